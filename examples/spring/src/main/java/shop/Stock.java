package shop;

import io.redlatch.spring.DistributedLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

/** The number that is left of each item, in files that all shops share. A file that two of them change at once would be wrong. */
@Service
class Stock {
    private final Path folder;

    Stock(@Value("${shop.folder}") Path folder) {
        this.folder = folder;
    }

    @DistributedLock(name = "stock:#{item}", waitTime = "10s")
    public void fill(String item, int number) throws IOException {
        write(item, number);
    }

    /** False: it is sold out. */
    @DistributedLock(name = "stock:#{item}", waitTime = "10s")
    public boolean take(String item) throws IOException {
        int left = Integer.parseInt(Files.readString(file(item)));
        if (left == 0) {
            return false;
        }
        write(item, left - 1);
        return true;
    }

    /** A shop that dies in here leaves the old number or the new one. */
    private void write(String item, int number) throws IOException {
        Path written = Files.writeString(Files.createTempFile(folder, "shop-", null), String.valueOf(number));
        Files.move(written, file(item), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Each item has a file of its own, as it has a lock of its own. */
    private Path file(String item) {
        return folder.resolve("shop-" + Names.checked(item));
    }
}
