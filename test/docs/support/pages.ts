import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from '@cinnabar/sdk';
import { AssertionError } from 'chai';
import { type Page, type Problem, readPage } from './markdown.js';

export const ROOT = new URL('../../../../', import.meta.url);
/** A path in the repository. */
export const at = (path: string) => fileURLToPath(new URL(path, ROOT));

/** The build folder of the bots in these tests: building the bundled plugins again for every page would take longer than all pages. */
export const BUILD_CACHE = process.env.BUILD_CACHE_PATH ?? join(tmpdir(), 'cinnabar-pages-builds');

/** The locations of pages: files, and folders with all their files. The template's pages are the first that an author reads. */
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
/** Notes beside the source, for contributors, and generated pages. */
const ELSEWHERE = /(?:^|\/)(?:node_modules|dist|src|sdk\/reference)\/|^docs\/reference\/sdk\/|^docs\/\.vitepress\//;

/** All pages for people, by path. */
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

/** The book's table of contents, and its function for anchors. */
export const readBook = async () => bookSchema.parse(await import(new URL('docs/.vitepress/book.js', ROOT).href));

/** @throws AssertionError with the list of problems and their places */
export function expectNone(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const lines = problems.map(({ file, line, text }) => `${file}:${line}: ${text}`);
  throw new AssertionError(['', ...lines].join('\n'));
}

/** The folder with plugins that the reader of a page has in addition to the bundled ones: the examples, or the output of `cinnabar new`. */
export function pluginsBeside({ file }: Page): string | undefined {
  return /^(examples|core\/templates\/plugin)\//.exec(file)?.[1];
}
