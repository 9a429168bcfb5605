/** Processor time that `work` takes in this process, in ms: unlike its duration, it does not depend on what else the machine does. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}
