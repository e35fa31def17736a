//! The way to the server: in the clear on this machine, or over TLS with a certificate that is checked.

use tokio::task::JoinHandle;
use tokio_postgres::{Client, NoTls};

use super::url::PostgresUrl;
use crate::kv::shared::ConnectError;

/// Connects, and spawns the task that carries the bytes; it ends with the reason of the end.
pub(super) async fn connect(
    url: &PostgresUrl,
) -> Result<(Client, JoinHandle<String>), ConnectError> {
    #[cfg(feature = "tls")]
    if url.config.get_ssl_mode() != tokio_postgres::config::SslMode::Disable {
        let tls = checked::Tls::new(url.authorities.as_deref()).map_err(ConnectError::Refused)?;
        let (client, connection) = url.config.connect(tls).await?;
        return Ok((client, tokio::spawn(async { reason(connection.await) })));
    }
    let (client, connection) = url.config.connect(NoTls).await?;
    Ok((client, tokio::spawn(async { reason(connection.await) })))
}

fn reason(ended: Result<(), tokio_postgres::Error>) -> String {
    match ended {
        Ok(()) => "the server closed the connection".to_owned(),
        Err(error) => super::failure::told(&error),
    }
}

/// TLS with rustls, as the driver asks for it.
#[cfg(feature = "tls")]
mod checked {
    use std::future::Future;
    use std::io;
    use std::path::Path;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use rustls_pki_types::ServerName;
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
    use tokio_postgres::Socket;
    use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
    use tokio_rustls::TlsConnector;

    /// Makes connections to servers whose certificate is checked.
    #[derive(Clone)]
    pub(super) struct Tls(TlsConnector);

    impl Tls {
        /// One that trusts the authorities in a file, or those of the system.
        pub(super) fn new(authorities: Option<&Path>) -> Result<Self, String> {
            let config = crate::trust::client_config(authorities)?;
            Ok(Self(TlsConnector::from(Arc::new(config))))
        }
    }

    /// The connection to one server.
    pub(super) struct ToServer {
        connector: TlsConnector,
        name: ServerName<'static>,
    }

    /// An encrypted connection.
    pub(super) struct Encrypted(tokio_rustls::client::TlsStream<Socket>);

    impl MakeTlsConnect<Socket> for Tls {
        type Stream = Encrypted;
        type TlsConnect = ToServer;
        type Error = rustls_pki_types::InvalidDnsNameError;

        fn make_tls_connect(&mut self, name: &str) -> Result<ToServer, Self::Error> {
            let name = ServerName::try_from(name.to_owned())?;
            Ok(ToServer { connector: self.0.clone(), name })
        }
    }

    impl TlsConnect<Socket> for ToServer {
        type Stream = Encrypted;
        type Error = io::Error;
        type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

        fn connect(self, stream: Socket) -> Self::Future {
            Box::pin(async move { self.connector.connect(self.name, stream).await.map(Encrypted) })
        }
    }

    impl TlsStream for Encrypted {
        fn channel_binding(&self) -> ChannelBinding {
            ChannelBinding::none()
        }
    }

    impl AsyncRead for Encrypted {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(context, buffer)
        }
    }

    impl AsyncWrite for Encrypted {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(context, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(context)
        }

        fn poll_shutdown(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(context)
        }
    }
}
