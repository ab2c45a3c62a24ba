//! What each operating system does in its own way, as far as all commands need it.

/// Calls `before` when a signal is about to end the program, which it then does as signals do.
#[cfg(unix)]
pub(crate) fn before_signals(before: fn()) {
    use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
    let all = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ];
    let Ok(mut signals) = signal_hook::iterator::Signals::new(all) else {
        return;
    };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            before();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

/// Without signals there is nothing to do before them.
#[cfg(not(unix))]
pub(crate) fn before_signals(_: fn()) {}

/// What waits for many things at a time.
///
/// # Errors
/// What the system says. Where fewer files may be open than it needs, tokio itself would panic.
#[cfg(any(all(unix, feature = "agent"), feature = "view"))]
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, crate::status::Failure> {
    let failed = |error: std::io::Error| crate::status::Failure::Read {
        name: "what the system tells of files and signals".to_owned(),
        error: std::io::Error::new(error.kind(), format!("{error}; `ulimit -n` says how many files may be open")),
    };
    #[cfg(unix)]
    (0..4)
        .map(|_| std::os::unix::net::UnixStream::pair())
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)
}

/// A file that is made so has the permissions of another from the first moment.
#[cfg(unix)]
pub(crate) fn made_like(how: &mut std::fs::OpenOptions, other: &std::fs::Metadata) {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    how.mode(other.permissions().mode() & 0o777);
}

/// Permissions come from the folder here.
#[cfg(not(unix))]
pub(crate) fn made_like(_: &mut std::fs::OpenOptions, _: &std::fs::Metadata) {}

/// Why a folder could not be made, where something else has its name: the system says only that there is a file.
pub(crate) fn no_folder(error: std::io::Error) -> std::io::Error {
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => std::io::Error::new(error.kind(), "a folder is wanted, and what has this name is none"),
        _ => error,
    }
}

/// Makes a folder that nobody else may look into, with those above it.
#[cfg(all(unix, feature = "view"))]
pub(crate) fn private_folder(path: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}

/// A user's folders are the user's own here.
#[cfg(all(not(unix), feature = "view"))]
pub(crate) fn private_folder(path: &std::path::Path) -> std::io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Where what can be made again is kept.
#[cfg(feature = "view")]
pub(crate) fn cache_folder() -> Option<std::path::PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(std::path::PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return named("LOCALAPPDATA");
    }
    named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))
}

/// Waits for a signal that ends programs; from now on none of them does.
#[cfg(all(unix, feature = "view"))]
pub(crate) fn asked_to_end() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut waits = Vec::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        if let Ok(mut signal) = signal(kind) {
            waits.push(Box::pin(async move { signal.recv().await }));
        }
    }
    async {
        if waits.is_empty() {
            return std::future::pending().await;
        }
        futures_util::future::select_all(waits).await;
    }
}

/// Waits for Ctrl-C.
#[cfg(all(not(unix), feature = "view"))]
pub(crate) async fn asked_to_end() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Which plain file it is, whatever it is called. Devices and pipes are none: they hold nothing that could be lost.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId(Id);

#[cfg(unix)]
type Id = (u64, u64);
#[cfg(not(unix))]
type Id = std::path::PathBuf;

#[cfg(unix)]
impl FileId {
    /// The file that is there under a name.
    pub(crate) fn of(path: &std::path::Path) -> Option<Self> {
        Self::of_metadata(&path.metadata().ok()?)
    }

    /// The file that standard input is.
    pub(crate) fn of_stdin() -> Option<Self> {
        Self::of_open(std::os::fd::AsFd::as_fd(&std::io::stdin()))
    }

    /// The file that standard output is.
    pub(crate) fn of_stdout() -> Option<Self> {
        Self::of_open(std::os::fd::AsFd::as_fd(&std::io::stdout()))
    }

    fn of_open(open: std::os::fd::BorrowedFd<'_>) -> Option<Self> {
        let file = std::fs::File::from(open.try_clone_to_owned().ok()?);
        Self::of_metadata(&file.metadata().ok()?)
    }

    fn of_metadata(about: &std::fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        about.is_file().then(|| Self((about.dev(), about.ino())))
    }
}

#[cfg(not(unix))]
impl FileId {
    /// The file that is there under a name.
    pub(crate) fn of(path: &std::path::Path) -> Option<Self> {
        let is_file = path.metadata().is_ok_and(|about| about.is_file());
        is_file.then(|| path.canonicalize().ok().map(Self)).flatten()
    }

    /// Not to be known here.
    pub(crate) const fn of_stdin() -> Option<Self> {
        None
    }

    /// Not to be known here.
    pub(crate) const fn of_stdout() -> Option<Self> {
        None
    }
}

/// Whether two files belong to the same user.
#[cfg(unix)]
pub(crate) fn same_owner(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    one.uid() == other.uid()
}

/// Nobody says whose they are.
#[cfg(not(unix))]
pub(crate) fn same_owner(_: &std::fs::Metadata, _: &std::fs::Metadata) -> bool {
    true
}

/// Whether a process has this number, as far as the system says so without being asked more.
pub(crate) fn may_live(pid: u32) -> bool {
    cfg!(target_os = "linux") && std::path::Path::new("/proc").join(pid.to_string()).exists()
}
