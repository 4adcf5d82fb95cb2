//! As much of the WebDriver protocol as the test needs, over a plain connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A browser without a window; it ends with the value.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// `None` where chromedriver or Chromium is not there.
    pub(crate) fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut browser = Self { driver, port, session: String::new() };
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "chromedriver does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1000,900",
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let made = browser.ask("POST", "/session", Some(&wanted));
        browser.session = made["sessionId"].as_str()?.to_string();
        Some(browser)
    }

    pub(crate) fn open(&mut self, address: &str) {
        self.post("/url", &json!({"url": address}));
    }

    /// What a script returns.
    pub(crate) fn script(&mut self, script: &str) -> Value {
        let value = self.post("/execute/sync", &json!({"script": script, "args": []}));
        assert!(value.get("error").is_none(), "{script}: {value}");
        value
    }

    /// A command of Chromium's own.
    pub(crate) fn chrome(&mut self, command: &str, parameters: &Value) {
        let value = self.post("/goog/cdp/execute", &json!({"cmd": command, "params": parameters}));
        assert!(value.get("error").is_none(), "{command}: {value}");
    }

    /// Everything the page said on the console that is no plain note.
    pub(crate) fn console(&mut self) -> Vec<String> {
        let lines = self.post("/se/log", &json!({"type": "browser"}));
        let lines = lines.as_array().cloned().unwrap_or_default();
        lines.iter().map(|line| line["message"].to_string()).collect()
    }

    pub(crate) fn screenshot(&mut self, path: &Path) {
        let session = self.session.clone();
        let text = self.ask("GET", &format!("/session/{session}/screenshot"), None);
        std::fs::write(path, decoded(text.as_str().unwrap())).unwrap();
    }

    /// The page as PDF.
    pub(crate) fn print(&mut self) -> Vec<u8> {
        decoded(self.post("/print", &json!({})).as_str().unwrap())
    }

    fn post(&mut self, path: &str, body: &Value) -> Value {
        let session = self.session.clone();
        self.ask("POST", &format!("/session/{session}{path}"), Some(body))
    }

    /// The value of an answer.
    fn ask(&mut self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let body = body.map_or_else(String::new, Value::to_string);
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let text = answered(stream);
        let mut document: Value =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        document["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let session = self.session.clone();
            self.ask("DELETE", &format!("/session/{session}"), None);
        }
        // If it has ended already, all is well.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The text of an answer. The driver keeps connections open, so that the length it tells is the end.
fn answered(stream: TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(told) = line.to_lowercase().strip_prefix("content-length:") {
            length = told.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The bytes of a text in base 64.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |c: u8| -> Option<u32> {
        Some(u32::from(match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }))
    };
    let digits: Vec<u32> = text.bytes().filter_map(digit).collect();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let sum = four.iter().enumerate().fold(0, |sum, (k, digit)| sum | digit << (18 - 6 * k));
        bytes.extend_from_slice(&sum.to_be_bytes()[1..four.len()]);
    }
    bytes
}
