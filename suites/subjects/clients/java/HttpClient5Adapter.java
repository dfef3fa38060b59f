import com.google.gson.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.DefaultHttpRequestRetryStrategy;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.client5.http.ssl.DefaultClientTlsStrategy;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpRequest;
import org.apache.hc.core5.http.io.entity.StringEntity;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.apache.hc.core5.util.VersionInfo;

/** Apache HttpClient 5 (classic), told BASE_URL CA_FILE OPTIONS; or --version. */
public final class HttpClient5Adapter {
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("--version")) {
            VersionInfo info = VersionInfo.loadVersionInfo("org.apache.hc.client5", HttpPost.class.getClassLoader());
            System.out.println("httpclient5 " + info.getRelease() + ", Java " + Runtime.version().feature());
            return;
        }
        JsonObject options = Lines.options(arguments[2]);
        Timeout read = Timeout.ofMilliseconds(options.get("read_ms").getAsInt());
        PoolingHttpClientConnectionManagerBuilder pool = PoolingHttpClientConnectionManagerBuilder.create()
                .setMaxConnPerRoute(100)
                .setMaxConnTotal(100)
                .setDefaultConnectionConfig(ConnectionConfig.custom()
                        .setConnectTimeout(Timeout.ofMilliseconds(options.get("connect_ms").getAsInt()))
                        .setSocketTimeout(read)
                        .build());
        if (arguments[0].startsWith("https")) {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {Lines.trusting(arguments[1])}, null);
            pool.setTlsSocketStrategy(new DefaultClientTlsStrategy(context));
        }
        HttpClientBuilder builder = HttpClients.custom()
                .setConnectionManager(pool.build())
                .setDefaultRequestConfig(RequestConfig.custom().setResponseTimeout(read).build());
        if (options.has("retries")) {
            builder.setRetryStrategy(retrying(options));
        }
        CloseableHttpClient client = builder.build();
        Lines.serve(operation -> call(client, arguments[0], operation));
    }

    /** The default strategy with other numbers; "every_method": it takes every request for idempotent. */
    private static DefaultHttpRequestRetryStrategy retrying(JsonObject options) {
        int retries = options.get("retries").getAsInt();
        TimeValue wait = TimeValue.ofMilliseconds(options.get("wait_ms").getAsInt());
        if (!options.has("every_method")) {
            return new DefaultHttpRequestRetryStrategy(retries, wait);
        }
        return new DefaultHttpRequestRetryStrategy(retries, wait) {
            @Override
            protected boolean handleAsIdempotent(HttpRequest request) {
                return true;
            }
        };
    }

    private static JsonObject call(CloseableHttpClient client, String url, JsonObject operation) throws IOException {
        HttpPost request = new HttpPost(url + operation.get("path").getAsString());
        request.setEntity(new StringEntity(operation.get("body").getAsString(), ContentType.APPLICATION_JSON));
        operation.getAsJsonObject("headers").entrySet()
                .forEach(header -> request.setHeader(header.getKey(), header.getValue().getAsString()));
        return client.execute(request, HttpClient5Adapter::held);
    }

    private static JsonObject held(ClassicHttpResponse answer) throws IOException {
        InputStream body = answer.getEntity() == null
                ? new ByteArrayInputStream(new byte[0])
                : answer.getEntity().getContent();
        return Lines.read(answer.getCode(), named(answer, "Content-Type"), named(answer, "Content-Encoding"), body);
    }

    private static String named(ClassicHttpResponse answer, String name) {
        Header header = answer.getFirstHeader(name);
        return header == null ? null : header.getValue();
    }
}
