package org.redisson.api.options;

/** How long the calls about keys are tried. */
public interface KeysOptions extends InvocationOptions<KeysOptions> {
    /** As the client's configuration has it. */
    static KeysOptions defaults() {
        return new KeysParams();
    }
}
