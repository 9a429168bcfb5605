/** Runs in a separate process without permission to write files, start programs, or use the network: reports what plugins declare, and ends. */
import { operatorSentenceOf } from '@cinnabar/sdk';
import { HOST_VERSION } from '../../version.js';
import { definitionIn } from '../loader.js';
import type { Answer, Task } from './declaration.js';
import { denyNetwork, recordSetup } from './recorded-setup.js';

async function declarationOf({ file, found }: Task[number]): Promise<Answer> {
  try {
    const plugin = definitionIn(file, found, HOST_VERSION);
    const { manifest, inject, env } = plugin;
    const { tools, commands, incomplete } = await recordSetup(plugin);
    return {
      ok: true,
      declaration: {
        id: manifest.id,
        version: manifest.version,
        description: manifest.description,
        author: manifest.author,
        intents: [...(manifest.intents ?? []), ...(manifest.optionalIntents ?? [])],
        permissions: [...(manifest.permissions ?? [])],
        hosts: [...(manifest.hosts ?? [])],
        env: Object.keys(env?.shape ?? {}),
        injects: Object.values(inject).map((injection) =>
          injection.kind === 'optional' ? injection.token.id : injection.id,
        ),
        tools: [...tools],
        commands: [...commands],
        incomplete,
      },
    };
  } catch (error) {
    return { ok: false, reason: operatorSentenceOf(error) ?? (error instanceof Error ? error.message : String(error)) };
  }
}

process.once('message', async (tasks: Task) => {
  denyNetwork();
  const answers: Answer[] = [];
  for (const task of tasks) answers.push(await declarationOf(task));
  process.send?.(answers, () => process.exit());
});
