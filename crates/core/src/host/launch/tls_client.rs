//! TLS towards other services: connections that this process opens.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::trust;

/// Opens connections over TLS to servers whose certificate an authority signed that it trusts.
#[derive(Clone)]
pub struct TlsClient(TlsConnector);

impl TlsClient {
    /// A client that trusts the authorities in a PEM file alone; without a file, those of the system.
    ///
    /// # Errors
    /// A sentence about the file that cannot be used.
    pub fn new(authorities: Option<&Path>) -> Result<Self, String> {
        let config = trust::client_config(authorities)?;
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    /// The encrypted connection on top of `stream`, to the server with this name or address.
    ///
    /// # Errors
    /// One of the connection; `InvalidData` for a certificate that is not trusted or not of that name.
    pub async fn connect(&self, name: &str, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(name.to_owned())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        self.0.connect(name, stream).await
    }
}

impl std::fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsClient").finish_non_exhaustive()
    }
}
