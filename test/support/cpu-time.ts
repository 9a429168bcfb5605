/** The processor time of `work` in this process, in ms: unlike the duration, it does not depend on other load of the machine. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}
