import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import okhttp3.Interceptor;
import okhttp3.OkHttp;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/** OkHttp, told BASE_URL CA_FILE OPTIONS; or --version. */
public final class OkHttpAdapter {
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("--version")) {
            System.out.println("okhttp " + OkHttp.VERSION + ", Java " + Runtime.version().feature());
            return;
        }
        JsonObject options = Lines.options(arguments[2]);
        OkHttpClient.Builder builder = new OkHttpClient.Builder()
                .connectTimeout(Duration.ofMillis(options.get("connect_ms").getAsInt()))
                .readTimeout(Duration.ofMillis(options.get("read_ms").getAsInt()));
        if (options.has("retry_on_connection_failure")) {
            builder.retryOnConnectionFailure(options.get("retry_on_connection_failure").getAsBoolean());
        }
        if (options.has("interceptor")) {
            builder.addInterceptor(new Again(options.get("interceptor").getAsInt()));
        }
        if (arguments[0].startsWith("https")) {
            X509TrustManager trust = Lines.trusting(arguments[1]);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {trust}, null);
            builder.sslSocketFactory(context.getSocketFactory(), trust);
        }
        OkHttpClient client = builder.build();
        Lines.serve(operation -> call(client, arguments[0], operation));
    }

    private static JsonObject call(OkHttpClient client, String url, JsonObject operation) throws IOException {
        byte[] body = operation.get("body").getAsString().getBytes(StandardCharsets.UTF_8);
        Request.Builder request = new Request.Builder().url(url + operation.get("path").getAsString());
        operation.getAsJsonObject("headers").entrySet()
                .forEach(header -> request.header(header.getKey(), header.getValue().getAsString()));
        request.post(RequestBody.create(body));
        try (Response answer = client.newCall(request.build()).execute()) {
            return Lines.read(answer.code(), answer.header("Content-Type"), answer.header("Content-Encoding"),
                    answer.body().byteStream());
        }
    }

    /** The interceptor that many write: until it has a success, so many times. */
    private record Again(int times) implements Interceptor {
        @Override
        public Response intercept(Chain chain) throws IOException {
            for (int left = times; ; left--) {
                try {
                    Response answer = chain.proceed(chain.request());
                    if (answer.isSuccessful() || left == 1) {
                        return answer;
                    }
                    answer.close();
                } catch (IOException error) {
                    if (left == 1) {
                        throw error;
                    }
                }
            }
        }
    }
}
