import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from '@cinnabar/sdk';
import type { CampaignOptions, CampaignResult } from './main.js';

const PROCESS = fileURLToPath(new URL('./reload/process.js', import.meta.url));
const resultSchema = z.object({ counts: z.record(z.string(), z.number()), violations: z.array(z.string()) });

/**
 * Reloads every bundled and example plugin, and one of 100 KB that changes each time, `rounds` times on the real host. At the end no old version may be in
 * memory, and unloading may leave no effect. Runs in a separate process with an exposed garbage collector.
 */
export async function reloadCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const child = spawn(process.execPath, ['--expose-gc', PROCESS, String(seed), String(rounds)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  createInterface({ input: child.stderr }).on('line', log);
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [output, status] = await Promise.all([text(child.stdout), exited]);
  if (status !== 0) return { counts: {}, violations: [`the process of the campaign ended with ${status}`] };
  return resultSchema.parse(JSON.parse(output));
}
