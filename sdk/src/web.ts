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

/** Where a link leads: to another page of the dashboard, in the same guild, to a guild's overview, to a file that a page has, or out to Discord. */
export type WebLink =
  | { readonly page: string; readonly query?: WebQuery; readonly guildId?: string | null }
  /** The overview of the guild with this id. */
  | { readonly overview: string }
  /** `download` is one of the page's `files`. */
  | { readonly page: string; readonly download: string; readonly query?: WebQuery }
  | { readonly discord: string };

/** How something stands, which decides its colour. */
export type WebTone = 'plain' | 'good' | 'busy' | 'warning' | 'bad';

/** How many things there are. The link leads to them. */
export interface WebCount {
  readonly count: number;
  readonly link: WebLink;
}

/** How much of something there is, or how it stands. */
export type WebMeasure =
  /** A number that counts nothing that could be listed: tokens, a weight, a version. */
  | { readonly measure: number }
  | { readonly durationMs: number }
  | { readonly bytes: number }
  | { readonly badge: string; readonly tone: WebTone };

/** One value of a table or list. Text is shown as text, whatever it contains. */
export type WebValue =
  | string
  | null
  | WebCount
  /** Milliseconds since 1970. */
  | { readonly time: number }
  /** US dollars. */
  | { readonly usd: number }
  | WebMeasure
  /** Typed as it stands: a command, an id. */
  | { readonly code: string }
  /** Shown with their names where the bot knows them. */
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

/** A number that matters. A count links to what it counts; `link` is for what else there is to read about a value. */
export type WebFigure = { readonly name: string; readonly hint?: string } & (
  | { readonly value: WebCount; readonly link?: never }
  | { readonly value: WebMeasure; readonly link?: WebLink }
  | { readonly value: Exclude<WebValue, WebCount>; readonly link: WebLink }
);

/** A button that does one of the page's acts. */
export interface WebButton {
  /** The act's name. */
  readonly act: string;
  readonly label: string;
  /** The part of the act's input that the button stands for. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Asked first, in place of the question of an act that destroys. */
  readonly question?: string;
  /** `primary`: what most people came to do; `danger`: what stops, removes or takes something away. */
  readonly tone?: 'plain' | 'primary' | 'danger';
}

/** A field of a form. */
export interface WebField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** How it is filled in. `text` may be long with `lines`. */
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
    /** Things of the guild, by name; with `many`, any number of them. */
    | { readonly kind: 'channel' | 'role' | 'user'; readonly many?: boolean };
  /** The value before a change, in the form of its control: text, number, boolean, or a list of ids. */
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
  /** Text as it stands: a prompt, a file, a log. */
  | { readonly kind: 'code'; readonly text: string; readonly title?: string }
  | {
      readonly kind: 'facts';
      readonly title?: string;
      readonly facts: readonly WebFact[];
    }
  /** A few numbers that matter, large. */
  | { readonly kind: 'figures'; readonly figures: readonly WebFigure[] }
  | {
      readonly kind: 'table';
      readonly title?: string;
      readonly columns: readonly { readonly name: string; readonly numeric?: boolean }[];
      readonly rows: readonly WebRow[];
      /** Shown in place of no rows: what it would list, and what to do. */
      readonly empty: string;
      /** Leads to further rows. */
      readonly more?: WebLink;
    }
  | {
      readonly kind: 'plot';
      readonly title: string;
      readonly style: 'lines' | 'bars';
      readonly unit: 'number' | 'usd' | 'ms' | 'bytes' | 'percent';
      /** Points by time, in milliseconds since 1970, rising. */
      readonly series: readonly {
        readonly name: string;
        readonly points: readonly (readonly [time: number, value: number])[];
      }[];
      readonly empty: string;
    }
  | { readonly kind: 'buttons'; readonly buttons: readonly WebButton[] }
  | {
      readonly kind: 'form';
      /** The act that it is sent to. */
      readonly act: string;
      readonly title?: string;
      readonly text?: string;
      readonly fields: readonly WebField[];
      readonly submit: string;
      /** A part of the act's input that is not shown, such as the value that the person saw. */
      readonly input?: Readonly<Record<string, unknown>>;
      /** As that of a button. */
      readonly question?: string;
      /** One line of a list of settings: the field's label and hint, then its control. A switch or a choice is sent as soon as it changes. */
      readonly compact?: boolean;
      /** Beside the one that sends it: back to the default. */
      readonly buttons?: readonly WebButton[];
    }
  /** Fields of the page's query: what is filled in narrows what the page shows. */
  | {
      readonly kind: 'search';
      readonly fields: readonly WebField[];
      readonly submit: string;
      /** Parts of the query that stay unchanged. */
      readonly query?: WebQuery;
    }
  /** Things in the order in which they happened, each of which opens. */
  | { readonly kind: 'steps'; readonly title?: string; readonly steps: readonly WebStep[]; readonly empty: string }
  /** A heading with its content; `closed` until the user opens it. */
  | {
      readonly kind: 'section';
      readonly title: string;
      readonly closed?: boolean;
      readonly blocks: readonly WebBlock[];
    };

export interface WebRow {
  /** Stays the same while the row changes. */
  readonly id: string;
  readonly cells: readonly WebValue[];
  readonly link?: WebLink;
  readonly buttons?: readonly WebButton[];
  /** When something became of it, in milliseconds since 1970: rows that changed since the person last looked are marked. */
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

/** A page as one person sees it at one moment. */
export interface WebView {
  /** In place of the page's own title, for a page about one thing. */
  readonly title?: string;
  readonly blocks: readonly WebBlock[];
}

/** The result of an act: a sentence for the person, and optionally a file or another page. */
export interface WebResult {
  readonly said: string;
  readonly file?: { readonly name: string; readonly contentType: string; readonly content: string };
  readonly goTo?: WebLink;
  /** The act of the same page that takes it back: offered beside the sentence, for a while. */
  readonly undo?: { readonly act: string; readonly input: Readonly<Record<string, unknown>> };
  /** Shown below the form instead of a sentence: a plan before it is applied, an explanation. */
  readonly blocks?: readonly WebBlock[];
}

/** An act on a page. An act that stops, removes or overwrites existing data is declared with the question that is asked before it. */
export type WebAct<I extends z.ZodObject = z.ZodObject> = WebActRun<I> &
  (
    | { readonly effect: 'shows' | 'changes' }
    | {
        readonly effect: 'destroys';
        /** Names what is going to be gone. `input` is the part of the act's input that the button or form stands for. */
        question(input: Partial<z.output<I>>): string;
      }
  );

interface WebActRun<I extends z.ZodObject> {
  /** By default as the page. */
  readonly access?: WebAccess;
  readonly input: I;
  /** The act as the audit names it: what would be typed for it, `plugin enable chat`. Without it nothing is recorded: it only shows something. */
  audit?(input: z.output<I>): string;
  /** @throws UserError or CinnabarError, whose sentence is shown */
  run(input: z.output<I>, request: WebRequest): string | WebResult | Promise<string | WebResult>;
}

/** A file that is too large to go along with an answer. */
export interface WebFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: number;
  /** From its first byte; called once. */
  read(): Readable;
}

/** The source of a link's download. */
export interface WebFileSource {
  /** By default as the page. */
  readonly access?: WebAccess;
  /** Its name in the audit: each download is recorded. */
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
  /** One sentence below the title. */
  readonly description?: string;
  /** About one guild, or about the whole bot. */
  readonly about: 'guild' | 'bot';
  /** Where the dashboard lists it; `hidden` is reached by links alone. A `card` is also shown on the overview, as far as its first blocks. */
  readonly group: 'server' | 'agents' | 'operation' | 'hidden';
  readonly access: WebAccess;
  view(request: WebRequest): WebView | Promise<WebView>;
  readonly acts?: Readonly<Record<string, WebAct>>;
  /** Files of a page about the bot: they are read where the dashboard is served. */
  readonly files?: Readonly<Record<string, WebFileSource>>;
  /** Called while the page is open: calls back when its content may have changed. @returns a function that stops it */
  watch?(request: WebRequest, changed: () => void): () => void;
  /** A few blocks for the overview of the guild or the bot. */
  card?(request: WebRequest): readonly WebBlock[] | Promise<readonly WebBlock[]>;
}

/** An act with its input's types inferred. */
export function webAct<const I extends z.ZodObject>(act: WebAct<I>): WebAct {
  return act;
}

/** An endpoint for programs below `/<plugin>` of the web server: it authenticates its callers itself, as a webhook or the Model Context Protocol do. */
export interface WebRoute {
  /** Below the plugin's path; empty for `/<plugin>` itself, else `/hook`. */
  readonly path: string;
  /** Hosts and origins beside the server's own are refused before; bodies are not read. */
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

/** The names of the ids in a view, as far as the person may know them. */
export interface WebNames {
  readonly users: Readonly<Record<string, string>>;
  readonly channels: Readonly<Record<string, string>>;
  readonly roles: Readonly<Record<string, { readonly name: string; readonly color: string | null }>>;
}

/** A channel, role or member that a field may be filled in with. */
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
  /** Address of its picture. */
  readonly icon: string | null;
}

/**
 * Every page and route of every plugin, for the server that shows them. Each call is decided anew by the one authorization path, for the person who has
 * signed in; a page that a person may not see is not there for them. In a cluster, the host that serves the guild decides and answers.
 */
export interface WebPages {
  /** The guilds where both the person and the bot are, and where at least one page is theirs, by name. */
  guilds(userId: string): Promise<readonly WebGuild[]>;
  /** Names the users, channels and roles that blocks show. */
  names(blocks: readonly WebBlock[], actor: Actor): Promise<WebNames>;
  /** Channels, roles or members of the actor's guild whose names contain what was typed, as far as the person can see them. */
  choices(kind: WebChoiceKind, search: string, actor: Actor): Promise<readonly WebChoice[]>;
  list(actor: Actor): Promise<readonly WebPageInfo[]>;
  /** @throws CINNABAR_PAGE_UNKNOWN, CINNABAR_ACCESS_DENIED, and what the page throws */
  view(page: string, request: WebRequest): Promise<WebView>;
  card(page: string, request: WebRequest): Promise<readonly WebBlock[]>;
  /** @throws as `view`; CINNABAR_SETTING_INVALID for an input that is not as declared */
  act(page: string, act: string, input: unknown, request: WebRequest): Promise<WebResult>;
  /** @throws as `view` */
  file(page: string, name: string, request: WebRequest): Promise<WebFile>;
  /** @returns ends it; nothing to end where the page does not say when it changes */
  watch(page: string, request: WebRequest, changed: () => void): Promise<() => void>;
  /** Whether the person may see the page, with every reason. */
  explain(page: string, actor: Actor): Promise<Decision>;
  /** Where a server shows them, without a path at the end; `undefined` while none does. */
  readonly url: string | undefined;
  /** Says that a server shows them. @returns takes it back */
  serveAt(url: string): () => void;
  /** Finds the route of a path. */
  route(path: string): WebRoute['handle'] | undefined;
}
export const WebPages = defineToken<WebPages>('cinnabar.web-pages');

/** The web server, while it listens. Provided by `web`. */
export interface WebServer {
  /** `http://127.0.0.1:8080`, or the address that a proxy shows it under; `undefined` while it is off. */
  readonly url: string | undefined;
  /** An address that signs a person in, once, within ten minutes: for their eyes alone. @throws UserError while nothing listens */
  signInLink(userId: string): string;
}
export const WebServer = defineToken<WebServer>('cinnabar.web-server');
