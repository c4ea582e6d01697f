package shop;

import io.redlatch.spring.DistributedLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.springframework.stereotype.Service;

/** The number that is left of each item, in files that all shops of this machine share. A file that two of them change at once would be wrong. */
@Service
class Stock {
    private final Path folder = Path.of(System.getProperty("java.io.tmpdir"));

    @DistributedLock(name = "stock:#{item}", waitTime = "10s")
    public void fill(String item, int number) throws IOException {
        Files.writeString(file(item), String.valueOf(number));
    }

    /** False: it is sold out. */
    @DistributedLock(name = "stock:#{item}", waitTime = "10s")
    public boolean take(String item) throws IOException {
        int left = Integer.parseInt(Files.readString(file(item)));
        if (left == 0) {
            return false;
        }
        Files.writeString(file(item), String.valueOf(left - 1));
        return true;
    }

    private Path file(String item) {
        return folder.resolve("shop-" + item.replaceAll("\\W", "_"));
    }
}
