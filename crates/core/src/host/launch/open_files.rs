//! The files that the operating system lets the process open, and the connections that fit them: where sockets take them all, nobody gets
//! an answer, and no body can be read.

use crate::host::server::served_with;

/// Files that the stores, the log and the runtime have open, and a few more.
const OWN_FILES: usize = 40;

/// The connections that can be served at once: as many as are asked for, or fewer where the process may not open the files for them.
pub(super) fn fitting_connections(asked: usize) -> usize {
    // Where there is no such file the limit is not known.
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let Some(files) = open_files_max(&limits) else {
        return asked;
    };
    let fitting = served_with(files.saturating_sub(OWN_FILES));
    if fitting >= asked {
        return asked;
    }
    tracing::warn!(
        "the process may open {files} files: {fitting} connections are served at once, not {asked}. Raise its limit (ulimit -n, LimitNOFILE)"
    );
    fitting
}

/// The number of open files that counts among the limits of a process; `None` where there is none.
fn open_files_max(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_of_the_two_limits_counts() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \nMax processes             95                   96                   processes \nMax open files            1024                 524288               files     \n";
        assert_eq!(open_files_max(limits), Some(1024));
        assert_eq!(open_files_max(&limits.replace("1024  ", "unlimited")), None);
        assert_eq!(open_files_max(""), None);
    }
}
