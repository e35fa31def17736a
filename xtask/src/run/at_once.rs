//! Jobs side by side, as many as the machine has cores.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, anyhow, bail};

/// Runs every job, whatever the others say, and gives what each said, in their order.
///
/// # Errors
/// What the jobs that failed say.
pub(crate) fn at_once<J: Send>(
    jobs: Vec<J>,
    run: impl Fn(J) -> Result<String> + Sync,
) -> Result<Vec<String>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<_> = jobs.iter().map(|_| None).collect();
    let waiting: VecDeque<_> = jobs.into_iter().zip(&mut done).collect();
    let waiting = Mutex::new(waiting);
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some((job, place)) = next() {
                    *place = Some(run(job));
                }
            });
        }
    });
    drop(waiting);
    let (mut said, mut failed) = (Vec::new(), Vec::new());
    for outcome in done {
        match outcome.unwrap_or_else(|| Err(anyhow!("a job did not end"))) {
            Ok(words) => said.push(words),
            Err(error) => failed.push(format!("{error:#}")),
        }
    }
    if failed.is_empty() {
        return Ok(said);
    }
    bail!("{}", failed.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_jobs_say_comes_in_their_order() {
        let said = at_once((0..50).collect(), |number: u32| Ok(number.to_string())).unwrap();
        assert_eq!(said, (0..50).map(|number| number.to_string()).collect::<Vec<_>>());
    }

    #[test]
    fn each_job_that_fails_is_told_and_the_others_run() {
        let ran = Mutex::new(0);
        let failed = at_once(vec![1, 2, 3], |number: u32| {
            *ran.lock().unwrap() += 1;
            if number == 2 { Ok(String::new()) } else { bail!("job {number}") }
        });
        assert_eq!(failed.unwrap_err().to_string(), "job 1\njob 3");
        assert_eq!(ran.into_inner().unwrap(), 3);
    }
}
