package io.redlatch.internal;

import io.redlatch.NativeLibraryError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.function.Supplier;

/** Puts the jar's native library on disk, where only this user can write: the JVM loads only files. */
final class Extracted {
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");

    private Extracted() {}

    /** The file with the content of that hash, written by the first process that needs it; only that one reads the content. */
    static Path once(byte[] hash, String name, Supplier<byte[]> content) {
        try {
            Path directory = directory();
            Path file = directory.resolve(new String(hash, StandardCharsets.US_ASCII) + "-" + name);
            if (!Files.exists(file)) {
                Path written = Files.write(Files.createTempFile(directory, "new", name), content.get());
                Files.move(written, file, StandardCopyOption.ATOMIC_MOVE); // another process may be doing the same
            }
            return file;
        } catch (IOException e) {
            throw failed(e);
        }
    }

    /** A file of this process alone, deleted when the JVM ends. */
    static Path again(byte[] content, String name) {
        try {
            Path file = Files.write(Files.createTempFile(directory(), "copy", name), content);
            file.toFile().deleteOnExit();
            return file;
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private static Path directory() throws IOException {
        Path temporary = Paths.get(System.getProperty("java.io.tmpdir"));
        Path directory = temporary.resolve("redlatch-" + System.getProperty("user.name").replaceAll("[^A-Za-z0-9_.-]", "_"));
        if (!directory.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            return Files.createDirectories(directory); // Windows: the temporary directory is the user's own
        }
        try {
            return Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PRIVATE));
        } catch (FileAlreadyExistsException e) {
            return isOurs(directory, temporary) ? directory : Files.createTempDirectory(temporary, "redlatch");
        }
    }

    /** Checks the owner: in a temporary directory that all users share, another user may have made it first, with a library of his own in it. */
    private static boolean isOurs(Path directory, Path temporary) throws IOException {
        Path probe = created(temporary);
        try {
            return Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)
                    && Files.getOwner(directory, LinkOption.NOFOLLOW_LINKS).equals(Files.getOwner(probe))
                    && Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS).equals(PRIVATE);
        } finally {
            Files.delete(probe);
        }
    }

    /** A file of ours with a name of its own. Files.createTempFile takes it from the JVM's cryptography, which takes long to load. */
    private static Path created(Path directory) throws IOException {
        while (true) {
            try {
                return Files.createFile(directory.resolve("redlatch-" + System.nanoTime()));
            } catch (FileAlreadyExistsException e) {
                // The next name is made of a later time.
            }
        }
    }

    private static NativeLibraryError failed(IOException e) {
        return new NativeLibraryError("the native library for " + NativeLibrary.platform() + " cannot be written to "
                + System.getProperty("java.io.tmpdir") + ": " + e + "; choose another directory with -Djava.io.tmpdir=<directory>", e);
    }
}
