/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, for people who cannot wait for the drain. */
export function untilStopped(process: NodeJS.Process): Promise<void> {
  return new Promise((resolve) => {
    let told = false;
    const onSignal = () => {
      if (told) process.exit(130);
      told = true;
      resolve();
    };
    // The listeners stay: between taking one off and putting another on, a signal would be lost.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  });
}
