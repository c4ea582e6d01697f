package shop;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** The names of items and orders. */
final class Names {
    private Names() {}

    /** The name itself, which stands in files: two names never mean one file or line. */
    static String checked(String name) {
        if (!name.matches("[\\w-]{1,100}")) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "`" + name + "` is no name; give 1 to 100 letters, digits, - and _");
        }
        return name;
    }
}
