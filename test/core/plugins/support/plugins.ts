import {
  definePlugin,
  type Injections,
  type Manifest,
  type Plugin,
  type PluginContext,
  type Token,
} from '@cinnabar/sdk';

type Setup = PluginContext<Record<never, never>, Record<never, never>, Injections, never>;

export interface TestPlugin extends Partial<Omit<Manifest, 'id'>> {
  readonly inject?: Injections;
  readonly provides?: readonly Token<unknown>[];
  readonly setup?: (
    context: Pick<Setup, 'command' | 'provide' | 'defer' | 'after' | 'services' | 'signal' | 'on'>,
  ) => unknown;
}

/** A minimal plugin. It provides the tokens that it declares, unless it has its own `setup`. */
export function testPlugin(id: string, { inject = {}, provides = [], setup, ...manifest }: TestPlugin = {}): Plugin {
  return definePlugin({
    manifest: { version: '1.0.0', description: `The plugin ${id}`, ...manifest, id },
    inject,
    provides,
    setup(context) {
      if (setup !== undefined) return setup(context);
      for (const token of provides) context.provide(token, { from: id });
      return undefined;
    },
  });
}

/** Lets all code run that does not wait for the clock. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
