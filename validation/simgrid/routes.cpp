// Prints what SimGrid makes of a platform file, one fact per line, fields separated by tabs:
//     host   NAME SPEED CORES
//     link   NAME BANDWIDTH LATENCY POLICY
//     route  FROM TO LATENCY LINK...     or "none" in place of the latency
// net/platform/examples/routes.rs prints the same of ours. Hosts and links are sorted by name.
//
//     g++ -std=c++17 -O2 routes.cpp -lsimgrid -o routes && ./routes PLATFORM.xml [STRIDE]
//
// With a stride s, only every s-th pair is printed. Some platforms make SimGrid abort when it is
// asked for a route that is not there, so children of this process ask, and whoever dies on a
// question has answered it with "none".

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace sg4 = simgrid::s4u;

static void route(const sg4::Host* from, const sg4::Host* to)
{
  std::vector<sg4::Link*> links;
  double latency = 0;
  from->route_to(to, links, &latency);
  if (links.empty() && latency == 0) {
    std::printf("route\t%s\t%s\tnone\n", from->get_cname(), to->get_cname());
    return;
  }
  std::printf("route\t%s\t%s\t%.17g", from->get_cname(), to->get_cname(), latency);
  for (const auto* link : links)
    std::printf("\t%s", link->get_cname());
  std::printf("\n");
}

template <class T> static std::vector<T*> by_name(std::vector<T*> all)
{
  std::sort(all.begin(), all.end(),
            [](const T* a, const T* b) { return a->get_name() < b->get_name(); });
  return all;
}

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  engine.load_platform(argv[1]);
  engine.seal_platform();
  const unsigned long stride = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;

  const auto hosts = by_name(engine.get_all_hosts());
  for (const auto* host : hosts)
    std::printf("host\t%s\t%.17g\t%d\n", host->get_cname(), host->get_speed(),
                host->get_core_count());
  for (const auto* link : by_name(engine.get_all_links()))
    std::printf("link\t%s\t%.17g\t%.17g\t%s\n", link->get_cname(), link->get_bandwidth(),
                link->get_latency(),
                link->get_sharing_policy() == sg4::Link::SharingPolicy::FATPIPE ? "FATPIPE"
                : "SHARED");
  std::fflush(stdout);

  auto* next = static_cast<unsigned long*>(
      mmap(nullptr, sizeof(unsigned long), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
           0));
  const unsigned long count = hosts.size() * hosts.size();
  for (*next = 0; *next < count; *next += stride) {
    const pid_t child = fork();
    if (child == 0) {
      std::freopen("/dev/null", "w", stderr);
      for (; *next < count; *next += stride) {
        try {
          route(hosts[*next / hosts.size()], hosts[*next % hosts.size()]);
        } catch (...) {
          std::printf("route\t%s\t%s\tnone\n", hosts[*next / hosts.size()]->get_cname(),
                      hosts[*next % hosts.size()]->get_cname());
        }
        std::fflush(stdout);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (*next < count)
      std::printf("route\t%s\t%s\tnone\n", hosts[*next / hosts.size()]->get_cname(),
                  hosts[*next % hosts.size()]->get_cname());
    std::fflush(stdout);
  }
  return 0;
}
