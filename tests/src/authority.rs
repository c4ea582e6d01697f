//! A certificate authority of the test's own, made with `openssl`. Dropping it deletes its files.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Authority {
    dir: PathBuf,
}

/// PEM files with a certificate and its private key.
#[derive(Clone, Debug)]
pub struct Issued {
    pub cert: String,
    pub key: String,
}

impl Authority {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("redlatch-ca-{}-{count}", std::process::id()));
        std::fs::create_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        let authority = Authority { dir };
        authority.make("ca", &["-subj", "/CN=a test's authority"]);
        authority
    }

    /// The path of the authority's own certificate.
    pub fn cert(&self) -> String {
        self.file("ca.pem")
    }

    /// A certificate for hosts in openssl's spelling, such as `DNS:localhost`.
    pub fn issue(&self, hosts: &str) -> Issued {
        let name = hosts.replace(':', "-");
        let hosts = format!("subjectAltName={hosts}");
        let ca = self.cert();
        let key = self.file("ca.key");
        self.make(
            &name,
            &[
                "-subj",
                "/CN=a test",
                "-CA",
                &ca,
                "-CAkey",
                &key,
                "-addext",
                &hosts,
                "-addext",
                "basicConstraints=CA:FALSE",
            ],
        );
        Issued { cert: self.file(&format!("{name}.pem")), key: self.file(&format!("{name}.key")) }
    }

    fn make(&self, name: &str, options: &[&str]) {
        let cert = self.file(&format!("{name}.pem"));
        let key = self.file(&format!("{name}.key"));
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "2"])
            .args(["-out", &cert, "-keyout", &key])
            .args(options)
            .stdin(Stdio::null())
            .output()
            .expect("openssl is there");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    fn file(&self, name: &str) -> String {
        self.dir.join(name).display().to_string()
    }
}

impl Default for Authority {
    fn default() -> Self {
        Authority::new()
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}
