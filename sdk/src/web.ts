import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { AccessPolicy, Actor, Decision } from './access.js';
import { defineToken } from './token.js';

/**
 * The access to a page or an act: the full name of a command (`set`), for the same members, rules, reasons and remedies; or a separate policy, to which only
 * access rules for the plugin apply.
 */
export type WebAccess = { readonly command: string } | AccessPolicy;

/** The query of a page's address after `?`: `{ task: 't-12' }`. It comes from a browser: treat it as a claim. */
export type WebQuery = Readonly<Record<string, string>>;

/** The person who requests a page, and the parameters of the request. */
export interface WebRequest {
  /** The person who has signed in. Their `channelId` is `NO_CHANNEL`; `guildId` is that of the page's guild, `null` on a page about the bot. */
  readonly actor: Actor;
  readonly query: WebQuery;
}

/** The target of a link: another page of the dashboard, in the same guild; a guild's overview; a file of a page; or an address on Discord. */
export type WebLink =
  | { readonly page: string; readonly query?: WebQuery; readonly guildId?: string | null }
  /** The overview of the guild with this id. */
  | { readonly overview: string }
  /** `download` is one of the page's `files`. */
  | { readonly page: string; readonly download: string; readonly query?: WebQuery }
  | { readonly discord: string };

/** The state of a value, which determines its colour. */
export type WebTone = 'plain' | 'good' | 'busy' | 'warning' | 'bad';

/** A number of things, with a link to their list. */
export interface WebCount {
  readonly count: number;
  readonly link: WebLink;
}

/** A quantity or a state. */
export type WebMeasure =
  /** A number without a list behind it: tokens, a weight, a version. */
  | { readonly measure: number }
  | { readonly durationMs: number }
  | { readonly bytes: number }
  | { readonly badge: string; readonly tone: WebTone };

/** One value of a table or list. Text is never interpreted as markup. */
export type WebValue =
  | string
  | null
  | WebCount
  /** Milliseconds since 1970. */
  | { readonly time: number }
  /** US dollars. */
  | { readonly usd: number }
  | WebMeasure
  /** Shown in a monospaced font: a command, an id. */
  | { readonly code: string }
  /** Ids, shown as names where the bot has them. */
  | { readonly user: string }
  | { readonly channel: string }
  | { readonly role: string }
  | { readonly link: WebLink; readonly text: string };

/** A name with its value. */
export interface WebFact {
  readonly name: string;
  readonly value: WebValue;
  readonly hint?: string;
}

/** An important number. A count links to its list; `link` leads to more about a value. */
export type WebFigure = { readonly name: string; readonly hint?: string } & (
  | { readonly value: WebCount; readonly link?: never }
  | { readonly value: WebMeasure; readonly link?: WebLink }
  | { readonly value: Exclude<WebValue, WebCount>; readonly link: WebLink }
);

/** A button that runs one of the page's acts. */
export interface WebButton {
  /** The act's name. */
  readonly act: string;
  readonly label: string;
  /** Fixed part of the act's input. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Confirmation question, in place of that of a destructive act. */
  readonly question?: string;
  /** `primary`: the main action of the page; `danger`: stops or removes something. */
  readonly tone?: 'plain' | 'primary' | 'danger';
}

/** A field of a form. */
export interface WebField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** The control of the field. A `text` with `lines` may be long. */
  readonly control:
    | {
        readonly kind: 'text';
        readonly lines?: number;
        readonly secret?: boolean;
        readonly suggestions?: readonly string[];
        readonly placeholder?: string;
      }
    | { readonly kind: 'number'; readonly min?: number; readonly max?: number; readonly whole?: boolean }
    | { readonly kind: 'switch' }
    | {
        readonly kind: 'choice';
        readonly of: readonly { readonly value: string; readonly text: string }[];
        /** The text while nothing is chosen. */
        readonly none?: string;
      }
    /** Channels, roles or members of the guild, by name; with `many`, any number of them. */
    | { readonly kind: 'channel' | 'role' | 'user'; readonly many?: boolean };
  /** The current value, in the form of its control: text, number, boolean, or a list of ids. */
  readonly value?: string | number | boolean | readonly string[];
  readonly optional?: boolean;
}

/** A block of a page, in order from top to bottom. */
export type WebBlock =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'notice';
      readonly tone: WebTone;
      readonly text: string;
      readonly link?: WebLink & { readonly text: string };
    }
  /** Preformatted text: a prompt, a file, a log. */
  | { readonly kind: 'code'; readonly text: string; readonly title?: string }
  | {
      readonly kind: 'facts';
      readonly title?: string;
      readonly facts: readonly WebFact[];
    }
  /** A few important numbers, in large type. */
  | { readonly kind: 'figures'; readonly figures: readonly WebFigure[] }
  | {
      readonly kind: 'table';
      readonly title?: string;
      readonly columns: readonly { readonly name: string; readonly numeric?: boolean }[];
      readonly rows: readonly WebRow[];
      /** Shown when there are no rows: the purpose of the table, and what to do. */
      readonly empty: string;
      /** Link to further rows. */
      readonly more?: WebLink;
    }
  | {
      readonly kind: 'plot';
      readonly title: string;
      readonly style: 'lines' | 'bars';
      readonly unit: 'number' | 'usd' | 'ms' | 'bytes' | 'percent';
      /** Points by time, in milliseconds since 1970, ascending. */
      readonly series: readonly {
        readonly name: string;
        readonly points: readonly (readonly [time: number, value: number])[];
      }[];
      readonly empty: string;
    }
  | { readonly kind: 'buttons'; readonly buttons: readonly WebButton[] }
  | {
      readonly kind: 'form';
      /** The act that receives the form. */
      readonly act: string;
      readonly title?: string;
      readonly text?: string;
      readonly fields: readonly WebField[];
      readonly submit: string;
      /** A part of the act's input that is not shown, such as the previous value. */
      readonly input?: Readonly<Record<string, unknown>>;
      /** Confirmation question, as for a button. */
      readonly question?: string;
      /**
       * Whether the form is one line of a list of settings: the field's label and hint, then its control. A switch or a choice is sent as soon as it changes.
       */
      readonly compact?: boolean;
      /** Buttons beside the one that sends the form, such as the reset to the default. */
      readonly buttons?: readonly WebButton[];
    }
  /** Fields of the page's query, which filter the page. */
  | {
      readonly kind: 'search';
      readonly fields: readonly WebField[];
      readonly submit: string;
      /** Parts of the query that stay unchanged. */
      readonly query?: WebQuery;
    }
  /** Events in order, each of which can be expanded. */
  | { readonly kind: 'steps'; readonly title?: string; readonly steps: readonly WebStep[]; readonly empty: string }
  /** A heading with its content; `closed` until the user opens it. */
  | {
      readonly kind: 'section';
      readonly title: string;
      readonly closed?: boolean;
      readonly blocks: readonly WebBlock[];
    };

export interface WebRow {
  /** Stays the same when the content of the row changes. */
  readonly id: string;
  readonly cells: readonly WebValue[];
  readonly link?: WebLink;
  readonly buttons?: readonly WebButton[];
  /** The last change, in milliseconds since 1970: rows that changed since the person's last visit are marked. */
  readonly changedAt?: number;
}

export interface WebStep {
  readonly id: string;
  readonly title: string;
  readonly tone: WebTone;
  /** Milliseconds since 1970. */
  readonly at?: number;
  readonly open?: boolean;
  readonly blocks: readonly WebBlock[];
}

/** The content of a page for one person at one moment. */
export interface WebView {
  /** Replaces the page's own title, on a page about one thing. */
  readonly title?: string;
  readonly blocks: readonly WebBlock[];
}

/** The result of an act: a sentence for the person, and optionally a file or another page. */
export interface WebResult {
  readonly said: string;
  readonly file?: { readonly name: string; readonly contentType: string; readonly content: string };
  readonly goTo?: WebLink;
  /** The act of the same page that undoes this one: offered beside the sentence, for a while. */
  readonly undo?: { readonly act: string; readonly input: Readonly<Record<string, unknown>> };
  /** Shown below the form instead of a sentence: a plan before it is applied, an explanation. */
  readonly blocks?: readonly WebBlock[];
}

/** An act on a page. An act that stops, removes or overwrites existing data declares a confirmation question. */
export type WebAct<I extends z.ZodObject = z.ZodObject> = WebActRun<I> &
  (
    | { readonly effect: 'shows' | 'changes' }
    | {
        readonly effect: 'destroys';
        /** Names the data that will be lost. `input` is the fixed part of the act's input in the button or form. */
        question(input: Partial<z.output<I>>): string;
      }
  );

interface WebActRun<I extends z.ZodObject> {
  /** By default that of the page. */
  readonly access?: WebAccess;
  readonly input: I;
  /** The act as a command line for the audit: `plugin enable chat`. Without it nothing is recorded, for acts that only show something. */
  audit?(input: z.output<I>): string;
  /** @throws UserError or CinnabarError, whose sentence is shown */
  run(input: z.output<I>, request: WebRequest): string | WebResult | Promise<string | WebResult>;
}

/** A file that is sent as a stream. */
export interface WebFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  /** The content from its first byte; called once. */
  read(): Readable;
}

/** The source of a link's download. */
export interface WebFileSource {
  /** By default that of the page. */
  readonly access?: WebAccess;
  /** The name of the download in the audit, which records each download. */
  audit(query: WebQuery): string;
  /** @throws UserError or CinnabarError, whose sentence is shown */
  open(request: WebRequest): Promise<WebFile>;
}

/** A page of the dashboard. Its content and acts are declared here, and rendered by the dashboard: a plugin brings no code into the browser. */
export interface WebPage {
  /** Unique in the plugin: lower case letters, digits and `-`. Its full name is `plugin/name`. */
  readonly name: string;
  /** Two words at most, in English; translated as commands' descriptions are. */
  readonly title: string;
  /** One sentence, shown below the title. */
  readonly description?: string;
  /** Whether the page is about one guild, or about the whole bot. */
  readonly about: 'guild' | 'bot';
  /**
   * The section of the dashboard's navigation; a `hidden` page is reached only by links. A page with a `card` is also shown on the overview, by its first
   * blocks.
   */
  readonly group: 'server' | 'agents' | 'operation' | 'hidden';
  readonly access: WebAccess;
  view(request: WebRequest): WebView | Promise<WebView>;
  readonly acts?: Readonly<Record<string, WebAct>>;
  /** Downloads of a page about the bot. They are read in the process that serves the dashboard. */
  readonly files?: Readonly<Record<string, WebFileSource>>;
  /** Called while the page is open; calls `changed` when the content may have changed. @returns a function that stops this */
  watch?(request: WebRequest, changed: () => void): () => void;
  /** A few blocks for the overview of the guild or the bot. */
  card?(request: WebRequest): readonly WebBlock[] | Promise<readonly WebBlock[]>;
}

/** An act with its input's types inferred. */
export function webAct<const I extends z.ZodObject>(act: WebAct<I>): WebAct {
  return act;
}

/** An HTTP endpoint for programs below `/<plugin>` of the web server. It authenticates its callers itself, as a webhook or the Model Context Protocol do. */
export interface WebRoute {
  /** Path below that of the plugin; empty for `/<plugin>` itself, else `/hook`. */
  readonly path: string;
  /** Handles a request with an allowed host and origin. The body is not read yet. */
  handle(request: IncomingMessage, response: ServerResponse): unknown;
}

/** A page as the navigation lists it. */
export interface WebPageInfo {
  /** `plugin/name` */
  readonly id: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly about: 'guild' | 'bot';
  readonly group: WebPage['group'];
  readonly hasCard: boolean;
}

/** The names of ids in a view, as far as the person may see them. */
export interface WebNames {
  readonly users: Readonly<Record<string, string>>;
  readonly channels: Readonly<Record<string, string>>;
  readonly roles: Readonly<Record<string, { readonly name: string; readonly color: string | null }>>;
}

/** A channel, role or member that a field can be set to. */
export interface WebChoice {
  readonly id: string;
  readonly name: string;
  readonly hint?: string;
}

export type WebChoiceKind = 'channel' | 'role' | 'user';

/** A guild as the dashboard lists it. */
export interface WebGuild {
  readonly id: string;
  readonly name: string;
  /** Address of its icon. */
  readonly icon: string | null;
}

/**
 * All pages and routes of the plugins, for the server that serves them. Each call is authorized again for the person who has signed in; `list` contains only
 * the pages that they may see. In a cluster, the host that serves the guild decides and answers.
 */
export interface WebPages {
  /** The guilds of both the person and the bot in which the person may see at least one page, by name. */
  guilds(userId: string): Promise<readonly WebGuild[]>;
  /** Names the users, channels and roles that blocks show. */
  names(blocks: readonly WebBlock[], actor: Actor): Promise<WebNames>;
  /** Channels, roles or members of the actor's guild whose names contain `search`, as far as the person can see them. */
  choices(kind: WebChoiceKind, search: string, actor: Actor): Promise<readonly WebChoice[]>;
  list(actor: Actor): Promise<readonly WebPageInfo[]>;
  /** @throws CINNABAR_PAGE_UNKNOWN, CINNABAR_ACCESS_DENIED, and what the page throws */
  view(page: string, request: WebRequest): Promise<WebView>;
  card(page: string, request: WebRequest): Promise<readonly WebBlock[]>;
  /** Runs an act. @throws as `view`; CINNABAR_SETTING_INVALID for an input that does not match the act's schema */
  act(page: string, act: string, input: unknown, request: WebRequest): Promise<WebResult>;
  /** @throws as `view` */
  file(page: string, name: string, request: WebRequest): Promise<WebFile>;
  /** Watches a page. @returns a function that stops this; it does nothing for a page without `watch` */
  watch(page: string, request: WebRequest, changed: () => void): Promise<() => void>;
  /** Whether the person may see the page, with every reason. */
  explain(page: string, actor: Actor): Promise<Decision>;
  /** Address of the server that serves the pages, without a path; `undefined` while there is none. */
  readonly url: string | undefined;
  /** Registers the address of a server that serves the pages. @returns a function that removes it */
  serveAt(url: string): () => void;
  /** Finds the route of a path. */
  route(path: string): WebRoute['handle'] | undefined;
}
export const WebPages = defineToken<WebPages>('cinnabar.web-pages');

/** The web server, while it listens. Provided by `web`. */
export interface WebServer {
  /** `http://127.0.0.1:8080`, or the address that a proxy shows it under; `undefined` while it is off. */
  readonly url: string | undefined;
  /** An address that signs a person in, once, within ten minutes: show it only to that person. @throws UserError while the server is off */
  signInLink(userId: string): string;
}
export const WebServer = defineToken<WebServer>('cinnabar.web-server');
