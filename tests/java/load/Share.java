/** A part of what a name has to give: an exclusive lock takes all of it, a reader or a permit a share. */
final class Share {
    static final int MANY = 1_000_000;

    final String name;
    final int size;
    final int capacity;

    Share(String name, int size, int capacity) {
        this.name = name;
        this.size = size;
        this.capacity = capacity;
    }

    static Share exclusive(String name) {
        return new Share(name, MANY, MANY);
    }
}
