import type { Plugin } from '@cinnabar/sdk';
import type { LoaderOptions } from '../plugins/loader.js';

/** Definitions of bundled plugins that no host uses now, by bundle. */
const unused = new Map<string, Plugin[]>();

/** What one host has of them. */
interface BorrowedDefinitions {
  readonly reuse: NonNullable<LoaderOptions['reuse']>;
  /** Once the host has stopped. */
  giveBack(): void;
}

/**
 * Hosts of one process use the definitions of bundled plugins one after the other: to evaluate them anew for each would take a third of a
 * test's processor time. Two hosts never share one at the same time, and what is reloaded is evaluated anew.
 */
export function borrowDefinitions(): BorrowedDefinitions {
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
}
