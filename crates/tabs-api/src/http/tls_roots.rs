//! Certificate authorities that this machine trusts, for pages that are fetched over https.

use std::sync::{Arc, OnceLock};

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The files in which systems keep their authorities.
const FILES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The connector; none on a machine that trusts nobody.
pub(super) fn connector() -> Option<TlsConnector> {
    static CONNECTOR: OnceLock<Option<TlsConnector>> = OnceLock::new();
    CONNECTOR.get_or_init(read).clone()
}

fn read() -> Option<TlsConnector> {
    let mut roots = RootCertStore::empty();
    for file in FILES {
        let Ok(certificates) = CertificateDer::pem_file_iter(file) else {
            continue;
        };
        roots.add_parsable_certificates(certificates.flatten());
        if !roots.is_empty() {
            break;
        }
    }
    if roots.is_empty() {
        tracing::warn!("no certificate authorities were found: pages over https cannot be fetched");
        return None;
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Some(TlsConnector::from(Arc::new(config)))
}
