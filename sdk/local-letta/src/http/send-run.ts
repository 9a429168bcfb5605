import type { ServerResponse } from 'node:http';
import type { LettaRun } from '../state/run.js';

/** Sends a run's frames, those there and those to come, until it is over, the client goes, or a script cuts it off. */
export function sendRun(response: ServerResponse, run: LettaRun, after: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  let sent = after;
  return new Promise((resolve) => {
    const end = () => {
      run.listeners.delete(listen);
      response.off('close', end);
      resolve();
    };
    const listen = (event: 'more' | 'cut') => {
      if (event === 'cut') {
        // What has been said is on the wire before the connection goes.
        response.write('', () => response.destroy());
        return end();
      }
      for (const frame of run.frames.slice(sent)) response.write(frame);
      sent = Math.max(sent, run.frames.length);
      if (!run.over || !run.frames.at(-1)?.includes('[DONE]')) return;
      response.end();
      end();
    };
    run.listeners.add(listen);
    response.on('close', end);
    listen('more');
  });
}
