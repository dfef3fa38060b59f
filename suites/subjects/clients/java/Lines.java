import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/** The adapters' side of the protocol in docs/add-a-subject.md, for clients in Java. */
final class Lines {
    interface Call {
        JsonObject of(JsonObject operation) throws Exception;
    }

    private static final Gson GSON = new Gson();

    private Lines() {}

    static JsonObject options(String json) {
        return GSON.fromJson(json, JsonObject.class);
    }

    /** Each operation on a thread of its own; returns when stdin has ended. */
    static void serve(Call call) throws IOException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // whatever prints does not mix with the outcomes
        ExecutorService threads = Executors.newCachedThreadPool();
        say(out, "{\"ready\": true}");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonObject operation = GSON.fromJson(line, JsonObject.class);
            threads.submit(() -> answer(out, operation, call));
        }
        System.exit(0);
    }

    private static void answer(PrintStream out, JsonObject operation, Call call) {
        JsonObject outcome;
        try {
            outcome = call.of(operation);
        } catch (Exception error) {
            outcome = raised(new JsonObject(), error);
        }
        outcome.add("id", operation.get("id"));
        say(out, GSON.toJson(outcome));
    }

    private static synchronized void say(PrintStream out, String line) {
        out.println(line);
        out.flush();
    }

    /** What had come of a body, and the error that ended it, if one did. */
    static JsonObject read(int status, String type, String coding, InputStream body) {
        ByteArrayOutputStream came = new ByteArrayOutputStream();
        IOException broken = null;
        try {
            byte[] piece = new byte[65536];
            for (int count = body.read(piece); count >= 0; count = body.read(piece)) {
                came.write(piece, 0, count);
            }
        } catch (IOException error) {
            broken = error;
        }
        JsonObject headers = new JsonObject();
        if (type != null) {
            headers.addProperty("Content-Type", type);
        }
        if (coding != null) {
            headers.addProperty("Content-Encoding", coding);
        }
        JsonObject outcome = new JsonObject();
        outcome.addProperty("status", status);
        outcome.add("headers", headers);
        outcome.addProperty("body_base64", Base64.getEncoder().encodeToString(came.toByteArray()));
        return broken == null ? outcome : raised(outcome, broken);
    }

    private static JsonObject raised(JsonObject outcome, Exception error) {
        outcome.addProperty("error", error.getClass().getName());
        outcome.addProperty("message", String.valueOf(error.getMessage()));
        return outcome;
    }

    /** Who trusts that CA, and nobody else. */
    static X509TrustManager trusting(String caFile) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (InputStream pem = new FileInputStream(caFile)) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return (X509TrustManager) factory.getTrustManagers()[0];
    }
}
