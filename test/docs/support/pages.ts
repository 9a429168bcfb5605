import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from '@cinnabar/sdk';
import { AssertionError } from 'chai';
import { type Page, type Problem, readPage } from './markdown.js';

export const ROOT = new URL('../../../../', import.meta.url);
/** A path of the repository. */
export const at = (path: string) => fileURLToPath(new URL(path, ROOT));

/** Where the bots of these tests keep what they build: building the bundled plugins anew for every page would take longer than all pages. */
export const BUILD_CACHE = process.env.BUILD_CACHE_PATH ?? join(tmpdir(), 'cinnabar-pages-builds');

/** Where the pages are: files, and folders with everything below them. The template's are the first that an author reads. */
const PLACES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs',
  'core/README.md',
  'core/templates',
  'sdk',
  'plugins',
  'examples',
];
/** Notes beside the source, for those who change it, and what is not written here. */
const ELSEWHERE = /(?:^|\/)(?:node_modules|dist|src|sdk\/reference)\/|^docs\/reference\/sdk\/|^docs\/\.vitepress\//;

/** Every page for people, by its path. */
export function readPages(): readonly Page[] {
  const files = PLACES.flatMap((place) =>
    place.endsWith('.md')
      ? [place]
      : readdirSync(at(place), { recursive: true, encoding: 'utf8' }).map(
          (name) => `${place}/${name.split(sep).join('/')}`,
        ),
  );
  return files
    .filter((file) => file.endsWith('.md') && !ELSEWHERE.test(file))
    .map((file) => readPage(file, readFileSync(at(file), 'utf8')));
}

const isFunction = (value: unknown) => typeof value === 'function';
interface SidebarItem {
  readonly text: string;
  readonly link?: string | undefined;
  readonly items?: readonly SidebarItem[] | undefined;
}
const sidebarItem: z.ZodType<SidebarItem> = z.object({
  text: z.string(),
  link: z.string().optional(),
  get items() {
    return z.array(sidebarItem).optional();
  },
});
const bookSchema = z.object({
  sidebar: z.array(sidebarItem),
  slugify: z.custom<(text: string) => string>(isFunction),
  pageOf: z.custom<(file: string) => string | undefined>(isFunction),
});

/** How the book is built: its table of contents, and the anchors of headings. */
export const readBook = async () => bookSchema.parse(await import(new URL('docs/.vitepress/book.js', ROOT).href));

/** @throws AssertionError that lists them, each with its place */
export function expectNone(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const lines = problems.map(({ file, line, text }) => `${file}:${line}: ${text}`);
  throw new AssertionError(['', ...lines].join('\n'));
}

/** A folder with plugins that the reader of a page has beside the bundled ones: the examples, or what `cinnabar new` writes. */
export function pluginsBeside({ file }: Page): string | undefined {
  return /^(examples|core\/templates\/plugin)\//.exec(file)?.[1];
}
