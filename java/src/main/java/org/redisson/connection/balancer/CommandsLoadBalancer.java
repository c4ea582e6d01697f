package org.redisson.connection.balancer;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** Some commands to one replica, the others in turn. Without meaning here: commands are the library's own. */
public class CommandsLoadBalancer extends RoundRobinLoadBalancer {
    /** No command is special. */
    public CommandsLoadBalancer() {}

    /** The replica of those commands. */
    public void setAddress(String address) {}

    /** The commands that go there. */
    public void setCommands(List<String> commands) {}

    /** The commands of each address. */
    public void setCommandsMap(Map<String, Set<String>> commandsMap) {}
}
