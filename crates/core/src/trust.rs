//! The authorities that servers on the network are trusted by.

use std::path::Path;
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

/// Files in which systems keep the authorities that they trust.
const SYSTEM_AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The file of the authorities that are trusted: the one that is named, else the system's.
///
/// # Errors
/// A sentence if the system has none where one is looked for.
pub(crate) fn file(authorities: Option<&Path>) -> Result<&Path, String> {
    let of_system = || SYSTEM_AUTHORITIES.iter().map(Path::new).find(|path| path.exists());
    authorities.or_else(of_system).ok_or_else(|| {
        "this system has no file of trusted authorities where one is looked for: name one"
            .to_owned()
    })
}

/// TLS towards servers whose certificate an authority of a PEM file signed; without a file, one of the system's.
///
/// # Errors
/// A sentence about the file that cannot be used.
pub(crate) fn client_config(authorities: Option<&Path>) -> Result<ClientConfig, String> {
    let path = file(authorities)?;
    let refused = |reason: String| format!("{}: {reason}", path.display());
    let mut roots = RootCertStore::empty();
    let read = CertificateDer::pem_file_iter(path).map_err(|error| refused(error.to_string()))?;
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
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
