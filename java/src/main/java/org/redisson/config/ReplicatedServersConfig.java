package org.redisson.config;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Servers one of which is the master, as some hosters have it. */
public class ReplicatedServersConfig extends BaseMasterSlaveServersConfig<ReplicatedServersConfig> {
    /** The defaults, without a server. */
    public ReplicatedServersConfig() {}

    ReplicatedServersConfig(ReplicatedServersConfig other) {
        super(other);
    }

    @Override
    ReplicatedServersConfig self() {
        return this;
    }

    @Override
    ReplicatedServersConfig copy() {
        return new ReplicatedServersConfig(this);
    }

    @Override
    String mode() {
        return "replicated servers";
    }

    /** Adds where servers are; see {@link SingleServerConfig#setAddress}. */
    public ReplicatedServersConfig addNodeAddress(String... addresses) {
        List<String> all = new ArrayList<>(getNodeAddresses());
        Collections.addAll(all, addresses);
        setNodeAddresses(all);
        return this;
    }

    /** The addresses. */
    public List<String> getNodeAddresses() {
        return kept.get("nodeAddresses", List.of());
    }

    /** The addresses, in place of those before. */
    public void setNodeAddresses(List<String> nodeAddresses) {
        kept.put("nodeAddresses", nodeAddresses);
    }

    /** Without meaning here: the servers are asked when the master fails, and now and then; default 1000. */
    public ReplicatedServersConfig setScanInterval(int scanInterval) {
        kept.idle("scanInterval", scanInterval);
        return this;
    }

    /** The value that was set. */
    public int getScanInterval() {
        return kept.get("scanInterval", 1000);
    }

    /** The number of the database; 0 by default. */
    public ReplicatedServersConfig setDatabase(int database) {
        kept.put("database", database);
        return this;
    }

    /** The value that was set. */
    public int getDatabase() {
        return kept.get("database", 0);
    }

    /** Without meaning here: an address is looked up for each new connection; default false. */
    public ReplicatedServersConfig setMonitorIPChanges(boolean monitorIPChanges) {
        kept.idle("monitorIPChanges", monitorIPChanges);
        return this;
    }

    /** The value that was set. */
    public boolean isMonitorIPChanges() {
        return kept.get("monitorIPChanges", false);
    }

    /** Without meaning here: no server says where others are; default {@link NatMapper#direct}. */
    public ReplicatedServersConfig setNatMapper(NatMapper natMapper) {
        kept.idle("natMapper", natMapper);
        return this;
    }

    /** The value that was set. */
    public NatMapper getNatMapper() {
        return kept.get("natMapper", NatMapper.direct());
    }
}
