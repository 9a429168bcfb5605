import { createMemoryDriver } from '@cinnabar/core/testing';
import { type Clock, createJournal, type ErasedContext } from '@cinnabar/sdk';
import { Client } from 'discord.js';
import { journalsOn } from '../../storage/fixture.js';
import type { PluginHarness, Run } from './harness.js';

/** Contexts whose registrations are only effects of the scope; services are real. */
export function createScopeContexts(
  services: PluginHarness['services'],
  clock: Clock,
  metricsOf: (owner: Run) => ErasedContext['metrics'],
): (owner: Run) => ErasedContext {
  const client = new Client({ intents: [] });
  return (owner) => {
    const { scope, plugin, log } = owner;
    const effect = (kind: string, name: string, dispose: () => unknown = () => undefined) =>
      scope.add(`${kind} ${name}`, dispose);
    return {
      command: ({ name }) => effect('command', name),
      group: ({ name }) => effect('command', name),
      component: ({ name }) => {
        effect('component', name);
        return { customId: (...args) => [name, ...args].join(':') };
      },
      on: (event) => effect('listener', String(event)),
      ready: () => effect('listener', 'ready'),
      tool: ({ name }) => effect('tool', name),
      responder: ({ name }) => effect('responder', name),
      page: ({ name }) => effect('page', name),
      route: ({ path }) => effect('route', path),
      intercept: ({ name }) => effect('interceptor', name),
      provide: (token, service) => services.provide(owner, token, service),
      personalData: () => effect('personal', 'data'),
      needsSetup: () => effect('check', 'setup'),
      diagnose: () => effect('check', 'diagnosis'),
      whySilent: () => effect('check', 'silence'),
      settingsChanged: () => effect('listener', 'settings'),
      every: (intervalMs, task) =>
        effect(
          'timer',
          `${intervalMs}`,
          clock.after(intervalMs, () => void task()),
        ),
      after: (delayMs, task) =>
        effect(
          'timer',
          `${delayMs}`,
          clock.after(delayMs, () => void task()),
        ),
      guildCommands: () => effect('commands', 'of guilds'),
      schedule: () => effect('schedule', 'documents'),
      worker: ({ pathname }) => {
        effect('worker', pathname);
        return { run: () => Promise.reject(new Error('there are no workers here')) };
      },
      question({ name, run }) {
        effect('question', name);
        return {
          everywhere: async (input) => ({ answers: [await run(input, scope.signal)], missing: 0 }),
          eachProcess: async (input) => ({
            answers: [{ process: undefined, answer: await run(input, scope.signal) }],
            missing: [],
          }),
          of: async (_, input) => run(input, scope.signal),
        };
      },
      metrics: metricsOf(owner),
      journals() {
        effect('journals', '');
        return journalsOn(createMemoryDriver(), plugin.manifest.id);
      },
      journal: (name, { schema }) => {
        effect('journal', name);
        return createJournal(createMemoryDriver().journal([name]), schema);
      },
      defer: (cleanup) => scope.add('cleanup', cleanup),
      signal: scope.signal,
      settings: {},
      collections: {},
      services: services.resolve(plugin.inject),
      env: {},
      client,
      log,
    };
  };
}
