import type { Plugin } from '@cinnabar/sdk';
import type { LoaderOptions } from './loader.js';

/** What one host has of a pool. */
export interface BorrowedDefinitions {
  readonly reuse: NonNullable<LoaderOptions['reuse']>;
  /** Once the host has stopped. */
  giveBack(): void;
}

/**
 * Definitions of bundled plugins, by bundle, that the hosts of one process use one after the other: evaluating them anew is a third of a start.
 * Two hosts never share one at the same time, and what is reloaded is evaluated anew.
 */
export function createDefinitionPool() {
  const unused = new Map<string, Plugin[]>();
  return {
    borrow(): BorrowedDefinitions {
      const borrowed: (readonly [file: string, plugin: Plugin])[] = [];
      return {
        reuse(file, evaluate) {
          const plugin = unused.get(file)?.pop() ?? evaluate();
          borrowed.push([file, plugin]);
          return plugin;
        },
        giveBack() {
          for (const [file, plugin] of borrowed.splice(0)) unused.set(file, [...(unused.get(file) ?? []), plugin]);
        },
      };
    },
  };
}
