// The smallest eigenvalue of a sparse matrix by inverse iteration with conjugate gradients: kernel
// CG of the NAS parallel benchmarks, class S (order 1400). The value is the one that the benchmarks
// publish. Ranks have blocks of rows; vectors are gathered.
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

namespace {

constexpr int order = 1400, nonzeros = 7, times = 15, steps = 25;
constexpr double shift = 10, condition = 0.1, eigenvalue = 8.5971775078648;
using Vector = std::vector<double>;

struct Random {
    std::uint64_t seed = 314159265;
    double operator()() {
        seed = 1220703125 * seed & ((std::uint64_t{1} << 46) - 1);
        return static_cast<double>(seed) / static_cast<double>(std::uint64_t{1} << 46);
    }
};

// A sum of outer products of sparse random vectors, whose weights fall off geometrically, and a
// shifted diagonal.
std::vector<std::map<int, double>> matrix() {
    std::vector<std::map<int, double>> rows(order);
    Random random;
    random();
    double weight = 1;
    const double ratio = std::pow(condition, 1.0 / order);
    for (int outer = 0; outer < order; outer++, weight *= ratio) {
        std::vector<std::pair<int, double>> vector;
        auto find = [&](int place) -> double * {
            for (auto &[at, value] : vector)
                if (at == place) return &value;
            return nullptr;
        };
        while (vector.size() < nonzeros) {
            const double value = random();
            const int place = static_cast<int>(2048 * random());
            if (place < order && !find(place)) vector.emplace_back(place, value);
        }
        if (double *own = find(outer))
            *own = 0.5;
        else
            vector.emplace_back(outer, 0.5);
        for (auto [row, left] : vector)
            for (auto [column, right] : vector)
                rows[row][column] += weight * left * right
                    + (row == outer && column == outer ? condition - shift : 0);
    }
    return rows;
}

class Rows {
  public:
    explicit Rows(MPI_Comm comm) : comm(comm) {
        int rank, ranks;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        for (int r = 0; r < ranks; r++) {
            starts.push_back(order * r / ranks);
            counts.push_back(order * (r + 1) / ranks - order * r / ranks);
        }
        const auto all = matrix();
        own.assign(all.begin() + starts[rank], all.begin() + starts[rank] + counts[rank]);
    }
    double dot(const Vector &a, const Vector &b) const {
        double sum = 0, total;
        for (std::size_t i = 0; i < a.size(); i++) sum += a[i] * b[i];
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, comm);
        return total;
    }
    Vector times(const Vector &part) const {
        Vector whole(order), product(own.size());
        MPI_Allgatherv(part.data(), static_cast<int>(part.size()), MPI_DOUBLE, whole.data(),
                       counts.data(), starts.data(), MPI_DOUBLE, comm);
        for (std::size_t i = 0; i < own.size(); i++)
            for (auto [column, value] : own[i]) product[i] += value * whole[column];
        return product;
    }
    Vector ones() const { return Vector(own.size(), 1.0); }

  private:
    MPI_Comm comm;
    std::vector<int> starts, counts;
    std::vector<std::map<int, double>> own;
};

// What the matrix takes to x, about.
Vector solve(const Rows &matrix, const Vector &x) {
    Vector z(x.size()), r = x, p = x;
    double rho = matrix.dot(r, r);
    for (int step = 0; step < steps; step++) {
        const Vector q = matrix.times(p);
        const double alpha = rho / matrix.dot(p, q);
        for (std::size_t i = 0; i < x.size(); i++) z[i] += alpha * p[i], r[i] -= alpha * q[i];
        const double before = std::exchange(rho, matrix.dot(r, r));
        for (std::size_t i = 0; i < x.size(); i++) p[i] = r[i] + rho / before * p[i];
    }
    return z;
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const Rows matrix(MPI_COMM_WORLD);
    Vector x = matrix.ones();
    double zeta = 0;
    for (int time = 0; time < times; time++) {
        const Vector z = solve(matrix, x);
        zeta = shift + 1 / matrix.dot(x, z);
        const double norm = std::sqrt(matrix.dot(z, z));
        for (std::size_t i = 0; i < x.size(); i++) x[i] = z[i] / norm;
    }
    if (std::abs(zeta - eigenvalue) > 1e-10) {
        std::printf("wrong: %.13f\n", zeta);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) std::puts("verified");
    MPI_Finalize();
}
