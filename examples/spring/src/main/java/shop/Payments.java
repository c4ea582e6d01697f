package shop;

import io.redlatch.spring.DistributedLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

/** The orders that were charged, a line each, in a file that all shops share. Two shops that look at once would both charge. */
@Service
class Payments {
    private final Path charged;

    Payments(@Value("${shop.folder}") Path folder) {
        this.charged = folder.resolve("shop-charged.txt");
    }

    /** False: the order was charged before. */
    @DistributedLock(name = "order:#{order}", waitTime = "10s")
    public boolean charge(String order) throws IOException {
        if (Files.exists(charged) && Files.readAllLines(charged).contains(Names.checked(order))) {
            return false;
        }
        Files.writeString(charged, order + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        return true;
    }
}
