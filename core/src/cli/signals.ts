/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, for people who cannot wait for the drain. */
export function untilStopped(process: NodeJS.Process): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.off(signal, stop);
        process.once(signal, () => process.exit(130));
      }
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  });
}
