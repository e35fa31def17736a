//! TLS for the host: a certificate from files, or one made at each start.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::flags::Flags;

/// The TLS that `flags` ask for; `None` if they ask for none.
pub(in crate::host) fn config(flags: &Flags) -> Result<Option<Arc<ServerConfig>>, String> {
    let (chain, key) = match (&flags.tls_files, flags.tls_self_signed) {
        (Some((chain, key)), _) => {
            let chain = CertificateDer::pem_file_iter(chain)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| format!("{}: {error}", chain.display()))?;
            let key = PrivateKeyDer::from_pem_file(key)
                .map_err(|error| format!("{}: {error}", key.display()))?;
            (chain, key)
        }
        (None, true) => self_signed(flags)?,
        (None, false) => return Ok(None),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Some(Arc::new(config)))
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn self_signed(flags: &Flags) -> Result<Identity, String> {
    let mut names = vec![
        "localhost".to_owned(),
        "*.localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
    ];
    names.extend(
        flags.base_hosts.iter().map(|host| host.split(':').next().unwrap_or(host).to_owned()),
    );
    let made = rcgen::generate_simple_self_signed(names).map_err(|error| error.to_string())?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok((vec![made.cert.der().clone()], key.into()))
}
