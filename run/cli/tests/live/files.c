/* Files (MPI 4.1, chapter 14): says what is not as it should be. The argument is the file's name.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int rank, size, bad;
#define CHECK(x) \
    do { \
        if (!(x)) { printf("rank %d line %d: %s\n", rank, __LINE__, #x); bad++; } \
    } while (0)
#define OK(x) CHECK((x) == MPI_SUCCESS)
static int is(int code, int want) {
    int c;
    MPI_Error_class(code, &c);
    if (c != want) printf("class %d, expected %d\n", c, want);
    return c == want;
}
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File f; MPI_Status s; MPI_Offset o; int n, i, buf[64], got[256]; const char *name = argv[1];
    if (rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(is(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f),
             MPI_ERR_NO_SUCH_FILE));
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
    for (i = 0; i < 64; i++) buf[i] = rank * 100 + i;
    /* explicit offsets, then everything read back collectively */
    OK(MPI_File_write_at(f, rank * 16, buf, 4, MPI_INT, &s)); MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n == 4);
    OK(MPI_File_sync(f));
    OK(MPI_File_read_at_all(f, 0, got, 4 * size, MPI_INT, &s)); MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n == 4 * size);
    for (i = 0; i < 4 * size; i++) CHECK(got[i] == i / 4 * 100 + i % 4);
    OK(MPI_File_get_size(f, &o)); CHECK(o == 16 * size);
    /* a view that interleaves the ranks, one int each, starting at byte 8 */
    MPI_Datatype t; MPI_Type_create_resized(MPI_INT, 0, 4 * size, &t); MPI_Type_commit(&t);
    OK(MPI_File_set_view(f, 8 + 4 * rank, MPI_INT, t, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(f, buf, 10, MPI_INT, &s));
    OK(MPI_File_get_position(f, &o)); CHECK(o == 10);
    OK(MPI_File_get_byte_offset(f, 3, &o)); CHECK(o == 8 + 4 * rank + 12 * size);
    OK(MPI_File_seek(f, 0, MPI_SEEK_END)); OK(MPI_File_get_position(f, &o)); CHECK(o == 10);
    OK(MPI_File_seek(f, -4, MPI_SEEK_CUR));
    OK(MPI_File_read_all(f, got, 8, MPI_INT, &s)); MPI_Get_count(&s, MPI_INT, &n); CHECK(n == 4);
    CHECK(got[0] == rank * 100 + 6);
    OK(MPI_File_get_position(f, &o)); CHECK(o == 10);
    MPI_Datatype e, ft; char rep[MPI_MAX_DATAREP_STRING]; int q[4];
    OK(MPI_File_get_view(f, &o, &e, &ft, rep));
    CHECK(o == 8 + 4 * rank && e == MPI_INT && !strcmp(rep, "native"));
    MPI_Type_get_envelope(ft, q, q + 1, q + 2, q + 3); CHECK(q[3] == MPI_COMBINER_RESIZED);
    MPI_Type_free(&ft);
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(f, 2, got, 10 * size, MPI_INT, &s));
    for (i = 0; i < 10 * size; i++) CHECK(got[i] == i % size * 100 + i / size);
    /* a vector in memory and in the file */
    MPI_Datatype v; MPI_Type_vector(4, 2, 4, MPI_INT, &v); MPI_Type_commit(&v);
    OK(MPI_File_set_view(f, 4096 + rank * 64, MPI_INT, v, "native", MPI_INFO_NULL));
    OK(MPI_File_write(f, buf, 1, v, &s)); MPI_Get_count(&s, v, &n); CHECK(n == 1);
    memset(got, 0, sizeof got); OK(MPI_File_seek(f, 1, MPI_SEEK_SET));
    OK(MPI_File_read(f, got, 6, MPI_INT, &s));
    int expect[] = {1, 4, 5, 8, 9, 12};
    for (i = 0; i < 6; i++) CHECK(got[i] == rank * 100 + expect[i]);
    CHECK(is(MPI_File_write(f, buf, 3, MPI_BYTE, &s), MPI_ERR_IO));
    /* shared pointer, ordered */
    OK(MPI_File_set_size(f, 0));
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_ordered(f, buf, rank + 1, MPI_INT, &s));
    OK(MPI_File_get_position_shared(f, &o)); CHECK(o == size * (size + 1) / 2);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_read_ordered(f, got, rank + 1, MPI_INT, &s));
    for (i = 0; i <= rank; i++) CHECK(got[i] == rank * 100 + i);
    OK(MPI_File_write_shared(f, buf + 7, 1, MPI_INT, &s)); MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_sync(f));
    OK(MPI_File_get_size(f, &o)); CHECK(o == 4 * (size * (size + 1) / 2 + size));
    int sum = 0, all; OK(MPI_File_read_at(f, size * (size + 1) / 2 + rank, &sum, 1, MPI_INT, &s));
    MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 7 * size + 100 * size * (size - 1) / 2);
    /* split and non-blocking */
    MPI_Request r[2];
    OK(MPI_File_write_at_all_begin(f, 4 * rank, buf, 4, MPI_INT));
    OK(MPI_File_write_at_all_end(f, buf, &s)); MPI_Get_count(&s, MPI_INT, &n); CHECK(n == 4);
    CHECK(is(MPI_File_write_at_all_end(f, buf, &s), MPI_ERR_IO));
    OK(MPI_File_sync(f)); MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_iread_at(f, 4 * ((rank + 1) % size), got, 4, MPI_INT, r));
    OK(MPI_File_iwrite_at_all(f, 100 + rank, buf, 1, MPI_INT, r + 1));
    MPI_Status ss[2]; OK(MPI_Waitall(2, r, ss)); MPI_Get_count(ss, MPI_INT, &n); CHECK(n == 4);
    CHECK(got[3] == (rank + 1) % size * 100 + 3);
    /* external32: big-endian, a long has 4 bytes */
    OK(MPI_File_set_size(f, 0));
    OK(MPI_File_close(&f)); CHECK(f == MPI_FILE_NULL);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &f));
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, rank, buf + 1, 1, MPI_INT, &s)); MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n == 1);
    OK(MPI_File_read_at_all(f, rank, got, 1, MPI_INT, &s)); CHECK(got[0] == rank * 100 + 1);
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    unsigned char raw[4]; OK(MPI_File_read_at(f, 4 * rank, raw, 4, MPI_BYTE, &s));
    CHECK(raw[0] == 0 && raw[3] == (rank * 100 + 1) % 256);
    int flag; OK(MPI_File_set_atomicity(f, 1)); OK(MPI_File_get_atomicity(f, &flag)); CHECK(flag);
    OK(MPI_File_write_at(f, 512 + rank, "x", 1, MPI_CHAR, &s));
    OK(MPI_File_get_amode(f, &n)); CHECK(n == (MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
    MPI_Group g; OK(MPI_File_get_group(f, &g)); MPI_Group_size(g, &n); CHECK(n == size);
    MPI_Group_free(&g);
    OK(MPI_File_preallocate(f, 10000)); OK(MPI_File_get_size(f, &o)); CHECK(o == 10000);
    CHECK(is(MPI_File_seek(f, -1, MPI_SEEK_SET), MPI_ERR_ARG));
    CHECK(is(MPI_File_set_view(f, 0, MPI_INT, MPI_SHORT, "native", MPI_INFO_NULL), MPI_ERR_ARG));
    CHECK(is(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "what", MPI_INFO_NULL),
             MPI_ERR_UNSUPPORTED_DATAREP));
    MPI_Aint x; OK(MPI_File_get_type_extent(f, MPI_DOUBLE, &x)); CHECK(x == 8);
    OK(MPI_File_close(&f));
    CHECK(is(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE));
    MPI_Type_free(&t); MPI_Type_free(&v);
    /* sequential: no accesses at offsets, and a view starts where the shared pointer is */
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL,
                     MPI_INFO_NULL, &f));
    OK(MPI_File_get_byte_offset(f, 5, &o)); CHECK(o == 5);
    CHECK(is(MPI_File_get_position(f, &o), MPI_ERR_UNSUPPORTED_OPERATION));
    CHECK(is(MPI_File_write_at(f, 0, buf, 1, MPI_INT, &s), MPI_ERR_UNSUPPORTED_OPERATION));
    OK(MPI_File_write_ordered(f, buf, 1, MPI_INT, &s));
    OK(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(f, &o, &e, &ft, rep)); CHECK(o == 4 * size);
    OK(MPI_File_write_ordered(f, buf + 1, 1, MPI_INT, &s)); OK(MPI_File_close(&f));
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &f));
    CHECK(is(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                               MPI_INFO_NULL), MPI_ERR_ARG));
    OK(MPI_File_read_at_all(f, 0, got, 2 * size, MPI_INT, &s)); MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n == 2 * size);
    for (i = 0; i < 2 * size; i++) CHECK(got[i] == i % size * 100 + i / size);
    OK(MPI_File_close(&f));
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Finalize(); return all != 0;
}
