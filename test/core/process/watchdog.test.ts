import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';

/** A process whose event loop blocks after its watchdog has started. */
const LOOPING = `
  const { startWatchdog } = await import(${JSON.stringify(import.meta.resolve('@cinnabar/core/internal/process/watchdog'))});
  process.on('SIGINT', () => undefined);
  startWatchdog();
  setTimeout(() => { process.stdout.write('looping', () => { for (;;) {} }); }, 500);
`;

describe('the watchdog', () => {
  it('ends a process that stands still when Ctrl-C is hit again and again, however fast', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', LOOPING], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = once(child, 'exit');
    try {
      await once(child.stdout, 'data');
      const began = performance.now();
      while (child.signalCode === null && performance.now() - began < 20_000) {
        child.kill('SIGINT');
        await wait(150);
      }
      expect(child.signalCode).to.equal('SIGKILL');
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
  });
});
