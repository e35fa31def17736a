//! TLS towards the server of the same flags, on this machine: its certificate is the one that the flags name.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, TcpStream};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::flags::Flags;

/// The connection on top of `stream` where the flags have the server speak TLS; `None` where it speaks plain HTTP.
///
/// # Errors
/// One of the file of the certificate.
pub(super) fn connect<'s>(
    flags: &Flags,
    address: IpAddr,
    stream: &'s TcpStream,
) -> io::Result<Option<StreamOwned<ClientConnection, &'s TcpStream>>> {
    let certificate = match (&flags.tls_files, flags.tls_self_signed) {
        (Some((chain, _)), _) => {
            let read = CertificateDer::from_pem_file(chain);
            let failed = |error| invalid(format!("{}: {error}", chain.display()));
            Some(read.map_err(failed)?)
        }
        (None, true) => None,
        (None, false) => return Ok(None),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = OwnCertificate { certificate, provider: Arc::clone(&provider) };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(invalid)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    let name = ServerName::IpAddress(address.into());
    let connection = ClientConnection::new(Arc::new(config), name).map_err(invalid)?;
    Ok(Some(StreamOwned::new(connection, stream)))
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, error)
}

/// Trusts the certificate of the file that the server has too, whoever signed it and whatever names it is for: it is asked for at an
/// address of this machine. One that the server made at its start is in no file, and any is taken for it.
#[derive(Debug)]
struct OwnCertificate {
    certificate: Option<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OwnCertificate {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match &self.certificate {
            Some(own) if own != end_entity => Err(rustls::Error::General(
                "it has another certificate than --tls-cert names: start it anew, or name its own"
                    .to_owned(),
            )),
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use clap::Command;
    use rustls::ServerConnection;

    use super::super::flags::augment;
    use super::super::flags::tests::PRODUCT;
    use super::super::tls;
    use super::*;

    /// The flags of a service of this command line.
    fn flags(line: &[&str]) -> Flags {
        let command = augment(Command::new("thing"), &PRODUCT);
        Flags::from_matches(&PRODUCT, &command.get_matches_from([&["thing"], line].concat()))
    }

    /// Exchanges a few bytes with a server of the one flags, by the others.
    fn greeted(server: &Flags, client: &Flags) -> io::Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let config = tls::config(server).map_err(invalid)?.ok_or(ErrorKind::InvalidInput)?;
        let serving = std::thread::spawn(move || -> io::Result<()> {
            let (stream, _) = listener.accept()?;
            let connection = ServerConnection::new(config).map_err(invalid)?;
            let mut stream = StreamOwned::new(connection, stream);
            stream.read_exact(&mut [0; 5])?;
            stream.write_all(b"ready")
        });
        let stream = TcpStream::connect(address)?;
        let mut answer = [0; 5];
        let mut stream = connect(client, address.ip(), &stream)?.ok_or(ErrorKind::InvalidInput)?;
        stream.write_all(b"hello")?;
        stream.read_exact(&mut answer)?;
        let _ = serving.join();
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    #[test]
    fn the_certificate_that_the_flags_name_is_trusted_whoever_signed_it_and_no_other_is() {
        let folder = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let pair = rcgen::generate_simple_self_signed([format!("{name}.example")]).unwrap();
            let files = ["crt", "key"].map(|end| folder.path().join(name).with_extension(end));
            std::fs::write(&files[0], pair.cert.pem()).unwrap();
            std::fs::write(&files[1], pair.signing_key.serialize_pem()).unwrap();
            let [chain, key] = files.each_ref().map(|file| file.to_str().unwrap());
            flags(&["--tls-cert", chain, "--tls-key", key])
        };
        let (own, other) = (made("own"), made("other"));
        let drawn = flags(&["--tls-self-signed"]);
        assert_eq!(greeted(&own, &own).unwrap(), "ready");
        assert_eq!(greeted(&drawn, &drawn).unwrap(), "ready");
        let refused = greeted(&other, &own).unwrap_err().to_string();
        assert!(refused.contains("another certificate"), "{refused}");
    }

    #[test]
    fn without_flags_of_tls_plain_http_is_spoken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stream = TcpStream::connect(address).unwrap();
        assert!(connect(&flags(&[]), address.ip(), &stream).unwrap().is_none());
    }
}
