#!/usr/bin/env python3
"""Runs packaged MPI programs, unmodified, under `heddle mpirun` on eight ranks over LogGOPS, flows
and InfiniBand.

    validation/programs/run.py HEDDLE [--replay] [NAME...]

With --replay, each run is recorded, and the replay of its trace has to end every rank at the same
picosecond.

The programs are those of Debian (apt-get install lammps hpcc iqtree phyml scalapack-mpi-test
netpipe-openmpi netpipe-mpich2 bagel gromacs quantum-espresso quantum-espresso-data mumps-test
python3-petsc4py python3-h5py-mpi libcoarrays-openmpi-dev nwchem-openmpi nwchem-mpich cp2k mpb-mpi);
one that is not installed is skipped with a message. What a program computes is compared with what
it computes under the MPI library that it was linked with, where that can run it, and otherwise with
what it says of its own checks.
"""

import gzip
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MACHINES = ROOT / "examples" / "machines"
NETWORKS = {
    "loggops": [],
    # HPCC's RandomAccess counts on messages of a pair to arrive in their order.
    "flow": ["--machine", MACHINES / "graphene.xml", "--set", "flow.in-order=true"],
    "infiniband": ["--machine", MACHINES / "fat-tree-648.toml"],
}
RANKS = 8
COARRAYS = pathlib.Path("/usr/lib/x86_64-linux-gnu/open-coarrays/openmpi/bin",
                        "OpenCoarrays-2.10.1-tests")
# Of its tests those that put, get, post events, lock, form teams, and allocate at others.
IMAGES = (
    "atomics allocatable_p2p_event_post comp_allocated_1 strided_sendget send_array "
    "co_reduce_test syncimages teams_subset"
).split()
MUMPS = pathlib.Path("/usr/lib/mumps")
# Packages of Debian are those of its own Python.
PYTHON = "/usr/bin/python3"
SCALAPACK = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack")

LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
thermo 50
run 100
"""

HPCC = """HPLinpack benchmark input file
Heddle
HPL.out
8
1
200
1
40
0
1
2
4
16.0
1
2
1
4
1
2
1
1
1
1
1
0
2
64
0
0
1
8
##### This line is ignored.
0
1200
0
40
"""

WATER = """{ "bagel" : [
{ "title" : "molecule", "basis" : "svp", "df_basis" : "svp-jkfit", "angstrom" : true, "geometry" : [
  {"atom" : "O", "xyz" : [0.0, 0.0, 0.0]},
  {"atom" : "H", "xyz" : [0.0, 0.757, 0.587]},
  {"atom" : "H", "xyz" : [0.0, -0.757, 0.587]} ] },
{ "title" : "hf", "thresh" : 1.0e-8 } ] }
"""


WATER_BOX = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""

DYNAMICS = """integrator=md
nsteps=60
dt=0.002
coulombtype=PME
rcoulomb=0.9
rvdw=0.9
rlist=0.9
tcoupl=berendsen
tc-grps=system
tau-t=0.1
ref-t=300
nstenergy=20
nstlog=20
gen-vel=yes
gen-seed=1
constraints=h-bonds
"""

SILICON = """&control calculation='scf' prefix='c' pseudo_dir='./' outdir='./out' tprnfor=.true. /
&system ibrav=2 celldm(1)=10.2 nat=2 ntyp=1 ecutwfc=16 /
&electrons conv_thr=1e-10 /
ATOMIC_SPECIES
Si 28.08 Si.UPF
ATOMIC_POSITIONS alat
Si 0 0 0
Si 0.26 0.25 0.25
K_POINTS automatic
2 2 2 0 0 0
"""
SILICON_ATOM = pathlib.Path("/usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz")

# Hartree-Fock with gradient, density functional and perturbation theory; through Global Arrays,
# which has locks, windows and messages.
MOLECULE = """start h2o
geometry units angstroms
 O 0 0 0.119
 H 0 0.763 -0.477
 H 0 -0.763 -0.477
end
basis
 * library 6-31g*
end
scf
 thresh 1e-8
end
task scf gradient
dft
 xc b3lyp
end
task dft energy
mp2
 freeze core
end
task mp2 energy
"""

CARBON = pathlib.Path("/usr/share/doc/cp2k/examples/C.inp")

# Bands of a lattice of rods.
RODS = """(set! num-bands 4)
(set! k-points (list (vector3 0 0 0) (vector3 0.5 0 0) (vector3 0.5 0.5 0)))
(set! geometry (list (make cylinder (center 0 0 0) (radius 0.2) (height infinity)
                                (material (make dielectric (epsilon 12))))))
(set! geometry-lattice (make lattice (size 1 1 no-size)))
(set! resolution 32)
(run-te)
"""

POISSON = """import glob, sys
sys.path += glob.glob("/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages")
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
comm, n = PETSc.COMM_WORLD, 40
grid = PETSc.DMDA().create([n, n], stencil_width=1, comm=comm)
A, b, x = grid.createMatrix(), grid.createGlobalVec(), grid.createGlobalVec()
(xs, xe), (ys, ye) = grid.getRanges()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for j in range(ys, ye):
    for i in range(xs, xe):
        row.index = (i, j)
        A.setValueStencil(row, row, 4.0)
        for k, l in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if 0 <= k < n and 0 <= l < n:
                column.index = (k, l)
                A.setValueStencil(row, column, -1.0)
A.assemble()
b.set(1.0)
for method, conditioner in (("cg", "jacobi"), ("gmres", "bjacobi"), ("cg", "gamg"),
                            ("cg", "hypre"), ("preonly", "lu")):
    solver = PETSc.KSP().create(comm)
    solver.setOperators(A)
    solver.setType(method)
    solver.getPC().setType(conditioner)
    if conditioner == "lu":
        solver.getPC().setFactorSolverType("mumps")
    solver.setTolerances(rtol=1e-10)
    x.set(0)
    solver.solve(b, x)
    norm = x.norm()
    if comm.rank == 0:
        print(f"solved {conditioner} {solver.getIterationNumber()} {norm:.6f}", flush=True)
"""

TABLES = """from mpi4py import MPI
import h5py, numpy
comm = MPI.COMM_WORLD
me, ranks = comm.rank, comm.size
part = numpy.arange(40.0).reshape(10, 4)
with h5py.File("t.h5", "w", driver="mpio", comm=comm) as file:
    one = file.create_dataset("one", (ranks * 10, 4), dtype="f8")
    with one.collective:
        one[me * 10 : (me + 1) * 10] = me + part
    file.create_dataset("two", (ranks,), dtype="i4", chunks=(2,))[me] = me * me
with h5py.File("t.h5", "r", driver="mpio", comm=comm) as file:
    right = all(
        (file["one"][rank * 10 : (rank + 1) * 10] == rank + part).all() for rank in range(ranks)
    )
    right = right and (file["two"][:] == numpy.arange(ranks) ** 2).all()
print("right" if comm.allreduce(right, MPI.LAND) else "wrong", flush=True)
"""


def water_box():
    """The input of GROMACS's `mdrun`, which its own tools prepare."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "t.top").write_text(WATER_BOX)
        (folder / "m.mdp").write_text(DYNAMICS)
        for command in (
            "gmx solvate -cs spc216.gro -box 3 3 3 -o w.gro -p t.top",
            "gmx grompp -f m.mdp -c w.gro -p t.top -o t.tpr -maxwarn 5",
        ):
            if not shutil.which("gmx") or \
                    subprocess.run(command.split(), cwd=folder, capture_output=True).returncode:
                return b""
        return (folder / "t.tpr").read_bytes()


def silicon_atom():
    return gzip.decompress(SILICON_ATOM.read_bytes()) if SILICON_ATOM.exists() else b""


def in_log(text, folder):
    """What GROMACS says of energies."""
    log = folder / "md.log"
    if not log.exists():
        return None
    return re.findall(r"(?m)^ +(-?\d\.\d+e[+-]\d+.*)$", log.read_text()) or None


def mumps_result(text, _folder):
    known = re.search(r"Solution is +(.*)", text)
    return [f"{float(number):.6f}" for number in known[1].split()] if known else None


def sequences(count=8, length=300):
    """Sequences that descend from each other, as PHYLIP text."""
    chance = random.Random(7)
    lines = [f" {count} {length}"]
    one = [chance.choice("ACGT") for _ in range(length)]
    for number in range(count):
        lines.append(f"t{number}        " + "".join(one))
        one = [chance.choice("ACGT") if chance.random() < 0.05 else base for base in one]
    return "\n".join(lines) + "\n"


def found(pattern, count=None):
    """What of the output is the result: the groups of all matches."""

    def result(text, _folder):
        groups = re.findall(pattern, text)
        return groups if groups and (count is None or len(groups) == count) else None

    return result


def hpcc_result(_text, folder):
    out = (folder / "hpccoutf.txt").read_text(errors="replace")
    failed = re.findall(r"^(?:.*failed.*|.*FAILED.*|.*Failure.*)$", out, re.M)
    success = re.findall(r"^Success=(\d)", out, re.M)
    failed = [line for line in failed if "FAILED" in line]
    return ["checks passed"] if success == ["1"] and not failed else None


def scalapack_result(text, folder):
    files = "".join(path.read_text(errors="replace") for path in folder.glob("*.out"))
    finished = re.search(r"Finished +(\d+) tests", text + files)
    passed = re.search(r"(\d+) tests completed and passed", text + files)
    failed = re.search(r"(\d+) tests completed and failed", text + files)
    right = finished and passed and failed and int(passed[1]) > 0 and int(failed[1]) == 0
    return [f"{passed[1]} passed"] if right else None


def phyml_result(text, folder):
    tree = folder / "a.phy_phyml_tree.txt"
    return re.findall(r"Log likelihood.*?: +(-[\d.]+)", text) if tree.exists() else None


def program(name, command, result, files=None, ranks=RANKS, reference=None, stdin=None):
    files = files or {}
    return dict(name=name, command=command, result=result, files=files, ranks=ranks,
                reference=reference, stdin=stdin)


def scalapack(name, flavour, data):
    folder = SCALAPACK / f"{flavour}-tests"
    inputs = {data: (folder / data).read_text(errors="replace")} if (folder / data).exists() else {}
    return program(f"scalapack {name} ({flavour})", [folder / name], scalapack_result, inputs)


def programs():
    openmpi = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]
    mpich = ["mpirun.mpich"]
    energies = r"^\s+(?:0|50|100)\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)\s+(\S+)"
    energies = found("(?m)" + energies, 3)
    netpipe = found(r"(?m)^\s*\d+:\s+(\d+) bytes")
    return [
        program("lammps", ["lmp", "-in", "in.lj"], energies, {"in.lj": LAMMPS}, reference=openmpi),
        program("hpcc", ["hpcc"], hpcc_result, {"hpccinf.txt": HPCC}),
        program(
            "iqtree",
            ["iqtree2-mpi", "-s", "a.phy", "-m", "JC", "-seed", "1", "-nt", "1", "-redo"],
            found(r"BEST SCORE FOUND : (\S+)", 1),
            {"a.phy": sequences()},
            reference=openmpi,
        ),
        program(
            "phyml",
            ["phyml-mpi", "-i", "a.phy", "-b", "8", "-m", "JC69", "-a", "1", "--r_seed", "1"],
            phyml_result,
            {"a.phy": sequences()},
        ),
        *[
            scalapack(name, flavour, data)
            for flavour in ("openmpi", "mpich")
            for name, data in (("xdlu", "LU.dat"), ("xdllt", "LLT.dat"), ("xcls", "LS.dat"),
                               ("xzqr", "QR.dat"))
        ],
        program("netpipe (openmpi)", ["NPopenmpi", "-u", "4096"], netpipe, ranks=2),
        program("netpipe (mpich)", ["NPmpich2", "-u", "4096"], netpipe, ranks=2),
        program(
            "gromacs",
            ["gmx_mpi", "mdrun", "-ntomp", "1", "-s", "t.tpr", "-reprod"],
            in_log,
            {"t.tpr": water_box()},
            reference=openmpi,
        ),
        program(
            "quantum espresso",
            ["pw.x", "-nk", "2", "-nd", "4", "-i", "si.in"],
            found(r"(?m)^!\s+total energy\s+=\s+(\S+)|Total force =\s+(\S+)", 2),
            {"si.in": SILICON, "Si.UPF": silicon_atom()},
            reference=openmpi,
        ),
        program(
            "nwchem (openmpi)",
            ["nwchem.openmpi", "h2o.nw"],
            found(r"Total (?:SCF|DFT|MP2) energy[ =]+(-\d+\.\d{7})", 4),
            {"h2o.nw": MOLECULE},
            reference=openmpi,
        ),
        # Under its own MPI, it ends with an error; the numbers are those of the other.
        program(
            "nwchem (mpich)",
            ["nwchem.mpich", "h2o.nw"],
            found(r"Total (?:SCF|DFT|MP2) energy[ =]+-76\.(?:0098407|4089509|1992438)", 4),
            {"h2o.nw": MOLECULE},
        ),
        program(
            "cp2k",
            ["cp2k.psmp", "C.inp"],
            found(r"ENERGY\|.*?(-\d+\.\d{9})", 1),
            {"C.inp": CARBON.read_bytes() if CARBON.exists() else b""},
            reference=openmpi,
        ),
        program("mpb", ["mpb-mpi", "p.ctl"], found(r"(?m)^tefreqs:, \d,.*", 3), {"p.ctl": RODS},
                ranks=4, reference=openmpi),
        program("petsc", [PYTHON, "solve.py"], found(r"solved .*", 5), {"solve.py": POISSON},
                reference=openmpi),
        program("hdf5", [PYTHON, "tables.py"], found(r"(?m)^right$", 4), {"tables.py": TABLES},
                ranks=4),
        program(
            "mumps",
            [MUMPS / "dsimpletest"],
            mumps_result,
            ranks=4,
            reference=openmpi,
            stdin=MUMPS / "input_simpletest_real",
        ),
        *[program(f"coarrays {name}", [COARRAYS / name], found(r"(?i)test passed"), ranks=4)
          for name in IMAGES],
        program("bagel", ["BAGEL", "water.json"], found(r"-75\.960919\d\d"), {"water.json": WATER},
                reference=mpich),
    ]


def run(command, one, environment, check=lambda _folder: None):
    """Output and result of a run in a folder of its own, which `check` then may find wrong."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, text in one["files"].items():
            (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
        try:
            ended = subprocess.run(
                [str(word) for word in command],
                cwd=folder,
                stdin=one["stdin"].open() if one["stdin"] else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
                timeout=600,
            )
        except subprocess.TimeoutExpired:
            return None, "it did not end in 600 s"
        text = ended.stdout.decode(errors="replace")
        result = one["result"](text, folder) if ended.returncode == 0 else None
        fault = check(folder) if result else None
        return (None, fault) if fault else (result, text)


def recorded(heddle, live, one):
    """A live run that leaves a trace and a result."""
    mpi = "mpich" if "mpich" in str(one["command"][0]) or one["name"] == "bagel" else "openmpi"
    return [heddle, "record", "--mpi", mpi, "-o", "trace", "--", *live[:2], "-o", "live", *live[2:]]


def replay(heddle, flags):
    """Whether the replay of what was recorded ends as the run did."""

    def check(folder):
        command = [str(word) for word in (heddle, "run", "trace", "-o", "replay", *flags)]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if ended.returncode:
            return ended.stderr
        live, again = ((folder / name / "ranks.csv").read_text().split()
                       for name in ("live", "replay"))
        ends = [(one.split(",")[:2], other.split(",")[:2])
                for one, other in zip(live, again, strict=True)]
        return "".join(f"live {one}, replay {other}\n" for one, other in ends if one != other)

    return check


def main():
    heddle, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    replays = "--replay" in names
    names = [name for name in names if name != "--replay"]
    environment = dict(os.environ, OMP_NUM_THREADS="1", BAGEL_NUM_THREADS="1")
    wrong = 0
    print(f"{'program':28} {'network':11} {'ranks':>5} {'wall s':>7}  result")
    for one in programs():
        if names and not any(name in one["name"] for name in names):
            continue
        if not shutil.which(one["command"][0]) or not all(one["files"].values()):
            print(f"{one['name']:28} is not installed: skipped")
            continue
        expected = None
        if one["reference"] and shutil.which(one["reference"][0]):
            command = [*one["reference"], "-n", one["ranks"], *one["command"]]
            expected, _ = run(command, one, environment)
        for network, flags in NETWORKS.items():
            command = [heddle, "mpirun", "-q", "-n", one["ranks"], "--compute-time", "off", *flags,
                       *one["command"]]
            start = time.time()
            if replays:
                result, text = run(recorded(heddle, command, one), one, environment,
                                   replay(heddle, flags))
            else:
                result, text = run(command, one, environment)
            verdict = "does not run, or replays otherwise:" if result is None else "right"
            if expected is not None and result is not None:
                is_same = result == expected
                verdict = "as with its own MPI" if is_same else f"{result} instead of {expected}"
                wrong += not is_same
            wrong += result is None
            print(f"{one['name']:28} {network:11} {one['ranks']:5} {time.time() - start:7.1f}  "
                  f"{verdict}", flush=True)
            if result is None:
                print("".join(f"    {line}\n" for line in text.splitlines()[-5:]), end="")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
