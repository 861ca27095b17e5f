//! Studies.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use experiment::{
    Failure,
    study::{Folder, Opening, Shared, Study as Runs},
};
use pyo3::{exceptions::PyValueError, prelude::*};
use results::TableForm;

use crate::{
    error,
    request::request,
    task::{self, Watch},
};

/// A study that was read and checked.
#[pyclass(frozen, module = "heddle")]
pub struct Study(Arc<Runs>);

#[pymethods]
impl Study {
    #[new]
    #[pyo3(signature = (file, machine=None, set=Vec::new()))]
    fn new(
        py: Python<'_>,
        file: String,
        machine: Option<String>,
        set: Vec<String>,
    ) -> PyResult<Self> {
        let request = request(file, machine, set, Vec::new())?;
        let study = py.detach(|| Runs::read(&request)).map_err(error)?;
        Ok(Self(Arc::new(study)))
    }

    /// The number of runs.
    fn __len__(&self) -> usize {
        self.0.runs()
    }

    /// The names of what varies.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.columns()
    }

    /// The values of a run, by the order of the columns.
    fn values(&self, run: usize) -> PyResult<Vec<String>> {
        if run >= self.0.runs() {
            return Err(PyValueError::new_err(format!("there are {} runs", self.0.runs())));
        }
        Ok(self.0.values(run))
    }

    /// Carries out the runs from `first` to the one before `last` that are missing in the folder,
    /// `jobs` at a time, and writes the tables once all runs of the study are known. Returns the
    /// numbers of runs that are known and that failed.
    #[pyo3(signature = (
        folder, first, last, jobs, resume, retry, progress=None, parquet=false
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are those of the command")]
    fn carry_out(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        first: usize,
        last: usize,
        jobs: usize,
        resume: bool,
        retry: bool,
        progress: Option<Bound<'_, PyAny>>,
        parquet: bool,
    ) -> PyResult<(usize, usize)> {
        if first > last || last > self.0.runs() {
            return Err(PyValueError::new_err(format!("there are {} runs", self.0.runs())));
        }
        let opening = match (retry, resume) {
            (true, _) => Opening::Retry,
            (false, true) => Opening::Resume,
            (false, false) => Opening::New,
        };
        let form = if parquet { TableForm::Parquet } else { TableForm::Csv };
        let study = Arc::clone(&self.0);
        let done = task::carry_out(py, progress.as_ref(), move |watch| {
            let folder = Folder::open(&folder, &study, first..last, opening)?;
            carry_out(&study, &folder, jobs, watch)?;
            folder.finish(&study, form)?;
            Ok::<_, Failure>(folder.counts())
        })?;
        done.map_err(error)
    }
}

/// Carries out all runs that are missing, so many at a time, until the work is to stop.
fn carry_out(study: &Runs, folder: &Folder, jobs: usize, watch: &Watch) -> Result<(), Failure> {
    let missing = folder.missing();
    let (next, shared) = (AtomicUsize::new(0), Shared::default());
    let worker = || -> Result<(), Failure> {
        while let Some(&run) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            if watch.is_stopped() {
                break;
            }
            folder.keep(study.run(run, &shared))?;
            watch.part(folder.counts().0, study.runs());
        }
        Ok(())
    };
    let jobs = jobs.clamp(1, missing.len().max(1));
    let results: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    for result in results {
        match result {
            Ok(result) => result?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    Ok(())
}
