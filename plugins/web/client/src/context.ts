import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Names, Place, Result } from './api.js';

/** The services for the blocks of a page. */
export interface PageContext {
  readonly page: string;
  readonly place: Place;
  readonly names: Names;
  /** Performs one of the page's acts. Rejects with a `Refusal`, whose sentence is for the person. */
  act(name: string, input: object): Promise<Result>;
  /** Shows a sentence for a while, with a button that undoes the reported act. */
  say(sentence: string, tone?: 'good' | 'bad', undo?: () => void): void;
  /** When the person last looked at this page, in ms since 1970. */
  readonly lookedAt: number;
}

export const NO_NAMES: Names = { users: {}, channels: {}, roles: {} };

/** For what is shown outside of a page, or only shows. */
export const NO_PAGE: PageContext = {
  page: '',
  place: { guildId: null, query: {} },
  names: NO_NAMES,
  act: () => Promise.reject(new Error('there is no page')),
  say: () => undefined,
  lookedAt: 0,
};

export const Page = createContext(NO_PAGE);

export const usePage = (): PageContext => useContext(Page);
