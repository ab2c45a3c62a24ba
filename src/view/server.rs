//! The server: which path leads to what.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use tokio::sync::Semaphore;

use super::access::{Access, guard};
use super::library::Library;
use super::stats::{self, Counting};
use super::{View, live, pages, search_hits};
use crate::stats::Prices;
use crate::status::Failure;

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    access: Arc<Access>,
}

/// What all pages share.
#[derive(Debug)]
pub(super) struct AppState {
    pub(super) library: Arc<Library>,
    pub(super) utc: bool,
    pub(super) prices: Prices,
    pub(super) counting: Counting,
    /// So many logs are read for pages at the same time.
    pub(super) reading: Arc<Semaphore>,
}

/// So many logs are read for pages at the same time.
const READING: usize = 4;

impl Server {
    /// Listens on this machine alone.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn bind(port: u16) -> Result<Self, Failure> {
        let listen = || {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
            listener.set_nonblocking(true)?;
            let port = listener.local_addr()?.port();
            Ok((listener, port))
        };
        let (listener, port) = listen().map_err(|error: std::io::Error| {
            let why = match error.kind() {
                std::io::ErrorKind::AddrInUse => "another program listens there already".to_owned(),
                _ => error.to_string(),
            };
            Failure::Usage(format!("--port {port}: {why}; name another port, or none for one that is free"))
        })?;
        Ok(Self {
            listener,
            access: Arc::new(Access::new(port)),
        })
    }

    /// Serves until a signal ends it. `begun` is called when it may be asked, and may be ended.
    ///
    /// # Errors
    /// When the logs cannot be listed, or the system does not let it serve.
    pub fn serve(self, view: View, begun: impl FnOnce(&str) -> Result<(), Failure>) -> Result<(), Failure> {
        let library = Arc::new(Library::new(view.place, view.keep));
        let app = Arc::new(AppState {
            library: Arc::clone(&library),
            utc: view.utc,
            prices: view.prices,
            counting: Counting::default(),
            reading: Arc::new(Semaphore::new(READING)),
        });
        let failed = |error| Failure::Read {
            name: "the network".to_owned(),
            error,
        };
        let runtime = crate::system::runtime()?;
        let keeping_up = {
            let library = Arc::clone(&library);
            std::thread::Builder::new().name("library".to_owned()).spawn(move || library.keep_up())
        };
        let keeping_up = keeping_up.map_err(failed)?;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(failed)?;
            let ended = crate::system::asked_to_end();
            begun(&self.access.address())?;
            tokio::select! {
                served = axum::serve(listener, router(self.access, app)) => served.map_err(failed),
                () = ended => Ok(()),
            }
        });
        // Pages that are still being written are of no use to anybody.
        runtime.shutdown_background();
        library.stop();
        // It panicked with a word on stderr, or ended.
        let _ = keeping_up.join();
        library.keep();
        served
    }
}

fn router(access: Arc<Access>, app: Arc<AppState>) -> Router {
    Router::new()
        .route("/{token}", get(pages::slash))
        .route("/{token}/", get(pages::list))
        .route("/{token}/list", get(pages::sessions))
        .route("/{token}/events", get(live::changes))
        .route("/{token}/asset/{name}", get(pages::asset))
        .route("/{token}/session/{id}", get(pages::session))
        .route("/{token}/session/{id}/turns", get(pages::turns))
        .route("/{token}/session/{id}/events", get(live::growth))
        .route("/{token}/hits/{id}", get(search_hits::hits))
        .route("/{token}/diff", get(pages::diff))
        .route("/{token}/stats", get(stats::page))
        .fallback(pages::nowhere)
        .layer(from_fn_with_state(access, guard))
        .with_state(app)
}
