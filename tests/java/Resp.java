import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A connection that speaks plain RESP, so that tests see the server without the library under test. */
final class Resp implements Closeable {
    private final Socket socket;
    private final InputStream in;

    Resp(int port) throws IOException {
        socket = new Socket("127.0.0.1", port);
        socket.setSoTimeout(5000);
        in = new BufferedInputStream(socket.getInputStream());
    }

    /** The reply: a String (also for errors), a Long, a List or null. */
    Object call(String... command) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(("*" + command.length + "\r\n").getBytes(StandardCharsets.UTF_8));
        for (String word : command) {
            byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
            out.write(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.UTF_8));
            out.write(bytes);
            out.write("\r\n".getBytes(StandardCharsets.UTF_8));
        }
        socket.getOutputStream().write(out.toByteArray());
        return reply();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    private Object reply() throws IOException {
        String line = line();
        String rest = line.substring(1);
        switch (line.charAt(0)) {
            case ':':
                return Long.valueOf(rest);
            case '$':
                return bulk(Integer.parseInt(rest));
            case '*':
                List<Object> items = new ArrayList<>();
                for (int left = Integer.parseInt(rest); left > 0; left--) {
                    items.add(reply());
                }
                return items;
            default:
                return rest;
        }
    }

    private String bulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        String text = new String(in.readNBytes(length), StandardCharsets.UTF_8);
        in.readNBytes(2);
        return text;
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\r'; b = in.read()) {
            if (b < 0) {
                throw new IOException("the server closed the connection");
            }
            line.write(b);
        }
        in.read();
        return line.toString(StandardCharsets.UTF_8);
    }
}
