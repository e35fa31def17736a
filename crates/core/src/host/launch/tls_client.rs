//! TLS towards other services: connections that this process opens.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Files in which systems keep the authorities that they trust.
const SYSTEM_AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Opens connections over TLS to servers whose certificate an authority signed that it trusts.
#[derive(Clone)]
pub struct TlsClient(TlsConnector);

impl TlsClient {
    /// A client that trusts the authorities in a PEM file alone; without a file, those of the system.
    ///
    /// # Errors
    /// A sentence about the file that cannot be used.
    pub fn new(authorities: Option<&Path>) -> Result<Self, String> {
        let of_system = || SYSTEM_AUTHORITIES.iter().map(Path::new).find(|path| path.exists());
        let path = authorities.or_else(of_system).ok_or(
            "this system has no file of trusted authorities where one is looked for: name one",
        )?;
        let refused = |reason: String| format!("{}: {reason}", path.display());
        let mut roots = RootCertStore::empty();
        let read =
            CertificateDer::pem_file_iter(path).map_err(|error| refused(error.to_string()))?;
        for certificate in read {
            let certificate = certificate.map_err(|error| refused(error.to_string()))?;
            // A bundle of a system may hold one that is too old to be understood.
            let added = roots.add(certificate);
            if authorities.is_some() {
                added.map_err(|error| refused(error.to_string()))?;
            }
        }
        if roots.is_empty() {
            return Err(refused("it holds no certificate".to_owned()));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
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
