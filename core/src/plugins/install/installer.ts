import { realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CinnabarError,
  createKeyedMutex,
  type InstalledPlugin,
  type Logger,
  type OnStep,
  operatorSentenceOf,
  type PluginDeclaration,
  type PluginInfo,
  type PluginOffer,
  type PluginPackages,
  type PluginUpdate,
  type PluginWant,
  type PreparedPlugin,
  type Random,
  t,
  UserError,
} from '@cinnabar/sdk';
import gt from 'semver/functions/gt.js';
import valid from 'semver/functions/valid.js';
import type { HostConfig } from '../../config/host-config.js';
import { isOfHost } from '../../storage/files.js';
import { HOST_VERSION } from '../../version.js';
import { type Discover, inspectFolder, PACKAGE_PREFIX } from '../discovery.js';
import { readDeclaration } from './declaration.js';
import { installDependencies } from './dependencies.js';
import { createDownloads } from './download.js';
import { createSizeLimit, filesBelow, foldedPath, measure } from './files.js';
import { createInstalledStore, type InstalledDocument, type InstalledEntry, problemOfFiles } from './installed.js';
import { type Fetched, fetchPackage, findVersion, readNpmConfiguration } from './npm-registry.js';
import { checkEngines, hasDependencies, installScripts, type PackageFile, readPackage } from './package-file.js';
import { createRegistries, isAddress, type RegistryMatch } from './registry-file.js';
import { type PackageSpec, parseSpec, specText } from './spec.js';

/** The plugin manager of a running bot. */
interface RunningPlugins {
  list(): readonly PluginInfo[];
  load(id: string): Promise<unknown>;
  unload(id: string): Promise<unknown>;
  /** `PluginManager.update` */
  update(id: string, folder: string): Promise<void>;
  /** `PluginManager.forget` */
  forget(id: string): Promise<void>;
}

interface InstallerOptions {
  readonly config: Pick<
    HostConfig,
    'root' | 'dataDir' | 'installDir' | 'cacheDir' | 'buildCacheDir' | 'env' | 'registries' | 'pluginMegabytes'
  >;
  readonly discover: Discover;
  /** Left out while the bot is stopped. */
  readonly running?: RunningPlugins;
  /** Test-starts the plugin in a folder while the bot is stopped; left out for a running bot, which starts the plugin. @throws UserError */
  readonly trial?: (folder: string) => Promise<void>;
  /** Those of a plugin's commands that another plugin has already. */
  readonly clashes: (commands: readonly string[], id: string) => Promise<readonly string[]>;
  /** Intents that the bot is connected with; `undefined` while it is not connected. */
  readonly intents: () => readonly string[] | undefined;
  /** Removes the settings and documents of a stopped plugin. */
  readonly eraseData: (id: string) => Promise<void>;
  readonly random: Pick<Random, 'id'>;
  readonly log: Logger;
}

const MEGABYTES = 100;
/** Maximum number of downloaded packages that wait for consent. Older ones are dropped. */
const MOST_WAITING = 4;
/** The key of the mutex: one change at a time. */
const CHANGE = 'change';

/** A package that was downloaded and inspected. */
interface Candidate {
  readonly id: string;
  readonly work: string;
  readonly folder: string;
  readonly spec: string;
  readonly registry: string | undefined;
  readonly fetched: Fetched;
  readonly file: PackageFile;
  readonly declared: PluginDeclaration;
  readonly content: string;
  readonly bytes: number;
  readonly dependencies: number;
  readonly notes: readonly string[];
}

export function createInstaller(options: InstallerOptions): PluginPackages {
  const { config, discover, running, eraseData, random, log } = options;
  const { root, dataDir, installDir = dataDir, cacheDir, buildCacheDir, env, registries: places = [] } = config;
  const store = createInstalledStore(installDir);
  const mutex = createKeyedMutex();
  /** Names of the packages' folders, the oldest first. */
  const waiting: string[] = [];

  const tools = async (spec?: PackageSpec) => {
    const npm = await readNpmConfiguration(root, env);
    const named = [
      ...places.filter(isAddress).map((place) => new URL(place)),
      ...(spec?.kind === 'url' ? [spec.url] : []),
    ];
    const downloads = createDownloads({
      trusted: new Set([...npm.origins, ...named.map(({ origin }) => origin)]),
      headersOf: npm.headersOf,
    });
    return { npm, downloads, registries: createRegistries(places, root, downloads) };
  };

  const discard = async (name: string) => {
    const at = waiting.indexOf(name);
    if (at >= 0) waiting.splice(at, 1);
    await rm(join(store.root, '.work', name), { recursive: true, force: true });
  };

  /** Downloads and reads a package, without running any of its code here. */
  const read = async (text: string, work: string, name: string, onStep: OnStep): Promise<Candidate> => {
    const typed = parseSpec(text, root);
    const { npm, downloads, registries } = await tools(typed);
    const listed =
      typed.kind === 'npm' && !typed.name.startsWith('@') ? await registries.find(typed.name, typed.range) : undefined;
    const spec = listed?.spec ?? typed;
    const limit = createSizeLimit((config.pluginMegabytes ?? MEGABYTES) * 1e6);
    onStep(t('Fetching {spec} …', { spec: specText(spec) }));
    const fetched = await fetchPackage(spec, { work, npm, downloads, limit, promised: listed?.integrity });
    const file = await readPackage(fetched.folder, fetched.source);
    assertSame(spec, file, listed);
    checkEngines(file, HOST_VERSION);
    await assertUnchanged(file, fetched);
    if (hasDependencies(file)) onStep(t('Fetching the dependencies of {plugin} …', { plugin: file.name }));
    const { count, withScripts } = await installDependencies(fetched.folder, file, {
      work,
      cacheDir,
      npm,
      downloads,
      limit,
    });
    await assertShadowsNothing(fetched.folder, file);
    onStep(t('Reading what {plugin} declares …', { plugin: file.name }));
    const folder = await realpath(fetched.folder);
    const found = inspectFolder(folder, 'package');
    const declared = await readDeclaration(found, { cacheDir: join(await realpath(work), 'build'), buildCacheDir });
    assertHonestId(declared.id, file, listed);
    const { integrity: content, bytes } = await measure(folder);
    const scripts = installScripts(file);
    return {
      id: declared.id,
      work: name,
      folder,
      spec: listed === undefined ? specText(typed) : listed.id,
      registry: listed?.registry,
      fetched,
      file,
      declared,
      content,
      bytes,
      dependencies: count,
      notes: [
        ...(fetched.deprecated === undefined
          ? []
          : [t('This version is deprecated: {reason}', { reason: fetched.deprecated })]),
        ...(scripts.length === 0
          ? []
          : [t('It has install scripts, which do not run: {scripts}.', { scripts: scripts.join(', ') })]),
        ...(withScripts.length === 0
          ? []
          : [
              t('These dependencies have install scripts, which do not run, and may not work without: {packages}.', {
                packages: withScripts.join(', '),
              }),
            ]),
        ...(declared.version === file.version
          ? []
          : [
              t('Its manifest says version {manifest}, its package {version}.', {
                manifest: declared.version,
                version: file.version,
              }),
            ]),
      ],
    };
  };

  const assertFree = async ({ id, file }: Candidate, { plugins }: InstalledDocument) => {
    if (isOfHost(id))
      throw new UserError(
        t('{package} says that it is {plugin}, which is a name of the host itself: no plugin gets that id.', {
          package: file.name,
          plugin: id,
        }),
      );
    const installed = entryOf(plugins, id);
    if (installed !== undefined && installed.packageName !== file.name)
      throw new UserError(
        t('{package} says that it is {plugin}, and that is installed from {other}. Remove that one first.', {
          package: file.name,
          plugin: id,
          other: installed.packageName,
        }),
      );
    const own = installed === undefined ? undefined : await realpath(store.folderOf(installed)).catch(() => undefined);
    const others = [...(await discover()).plugins, ...(running?.list() ?? [])].filter((one) => one.path !== own);
    const other = others.find((one) => one.id === id);
    if (other !== undefined && installed === undefined)
      throw new UserError(
        other.source === 'bundled'
          ? t('{package} says that it is {plugin}, which comes with the host: no other plugin gets that id.', {
              package: file.name,
              plugin: id,
            })
          : t('{package} says that it is {plugin}, and there is a plugin of that id already.', {
              package: file.name,
              plugin: id,
            }),
      );
  };

  /** @throws UserError when the version was installed before with another content */
  const assertUnchanged = async (file: PackageFile, fetched: Fetched) => {
    const before = (await store.read()).known[`${file.name}@${file.version}`];
    if (fetched.isPublished && before !== undefined && before !== fetched.integrity)
      throw new UserError(
        t(
          '{package} {version} is not what it was when it was installed before: its content has changed under the same version. A new version has a new number.',
          {
            package: file.name,
            version: file.version,
          },
        ),
      );
  };

  const offerOf = async (candidate: Candidate, previous: InstalledEntry | undefined): Promise<PluginOffer> => {
    const { id, file, fetched, declared, dependencies, bytes, notes } = candidate;
    const intents = options.intents();
    return {
      id,
      packageName: file.name,
      version: file.version,
      license: file.license,
      source: fetched.source,
      integrity: fetched.integrity,
      declared: { ...declared, author: declared.author ?? file.author },
      missingIntents: intents === undefined ? [] : declared.intents.filter((intent) => !intents.includes(intent)),
      clashes: await options.clashes(declared.commands, id),
      dependencies,
      bytes,
      notes,
      ...(previous === undefined
        ? {}
        : { update: { from: previous.version, wants: newWants(previous.granted, declared) } }),
    };
  };

  /** Makes the running bot load the new folder, and stores the new document. Restores the previous state when either fails. */
  const activate = async (id: string, before: InstalledDocument, after: InstalledDocument): Promise<void> => {
    const [previous, next] = [entryOf(before.plugins, id), entryOf(after.plugins, id)];
    const isKnown = running?.list().some((one) => one.id === id) === true;
    if (next !== undefined) await options.trial?.(store.folderOf(next));
    if (running === undefined || next === undefined || !isKnown) {
      await store.write(after);
      try {
        await running?.load(id);
      } catch (error) {
        await store.write(before);
        await running?.forget(id).catch((cause: unknown) => log.warn(`${id} is still listed`, { error: cause }));
        throw error;
      }
      return;
    }
    if (previous?.folder !== next.folder) await running.update(id, store.folderOf(next));
    try {
      await store.write(after);
    } catch (error) {
      if (previous !== undefined) await running.update(id, store.folderOf(previous));
      throw error;
    }
  };

  const put = (candidate: Candidate): Promise<InstalledPlugin> =>
    mutex.run(CHANGE, async () => {
      const { id, file, fetched } = candidate;
      const document = await store.read();
      await assertFree(candidate, document);
      const previous = entryOf(document.plugins, id);
      const entry = newEntry(candidate, previous);
      const published = fetched.isPublished ? { [`${file.name}@${file.version}`]: fetched.integrity } : {};
      const isInPlace = previous?.folder === entry.folder && (await problemOfFiles(store, id, previous)) === undefined;
      if (!isInPlace) await store.place(candidate.folder, entry.folder);
      try {
        const plugins = { ...document.plugins, [id]: entry };
        await activate(id, document, { ...document, plugins, known: { ...document.known, ...published } });
      } catch (error) {
        await store.sweep({ work: waiting });
        throw refused(file.name, file.version, previous, error);
      }
      await discard(candidate.work);
      await store.sweep({ work: waiting });
      log.info(`installed ${id} ${file.version}`, { plugin: id, integrity: fetched.integrity });
      return infoOf(id, entry);
    });

  const prepare = async (spec: string, onStep: OnStep, mustBe?: string): Promise<PreparedPlugin> => {
    await mutex.run(CHANGE, () => store.sweep({ work: waiting }));
    while (waiting.length >= MOST_WAITING) await discard(waiting[0] ?? '');
    const name = random.id();
    waiting.push(name);
    try {
      const candidate = await read(spec, await store.workFolder(name), name, onStep);
      const document = await store.read();
      if (mustBe !== undefined && candidate.id !== mustBe)
        throw new UserError(
          t('{package} {version} says that it is {other}, and not {plugin}.', {
            package: candidate.file.name,
            version: candidate.file.version,
            other: candidate.id,
            plugin: mustBe,
          }),
        );
      await assertFree(candidate, document);
      const offer = await offerOf(candidate, entryOf(document.plugins, candidate.id));
      return {
        offer,
        async install() {
          if (!waiting.includes(name))
            throw new UserError(t('The downloaded package was removed meanwhile. Please give the command again.'));
          return put(candidate);
        },
        discard: () => discard(name),
      };
    } catch (error) {
      await discard(name);
      throw error;
    }
  };

  /** @throws UserError when no plugin was installed under that id */
  const installedAs = (document: InstalledDocument, id: string): InstalledEntry => {
    const entry = entryOf(document.plugins, id);
    if (entry === undefined) throw new UserError(t('{plugin} is not a plugin that was installed.', { plugin: id }));
    return entry;
  };

  /** The newest available version; `undefined` when that is not known before the download. */
  const newest = async (entry: InstalledEntry): Promise<string | undefined> => {
    const spec = parseSpec(entry.spec, root);
    if (spec.kind !== 'npm') return undefined;
    const { npm, downloads, registries } = await tools();
    const listed = await registries.find(spec.name, spec.range);
    if (listed === undefined && entry.registry !== undefined)
      throw new UserError(
        t('{plugin} was listed by {registry}, and no registry file lists it any more. Name its package to update it.', {
          plugin: entry.spec,
          registry: entry.registry,
        }),
      );
    return listed?.version ?? (await findVersion(spec.name, spec.range, npm, downloads)).version;
  };

  return {
    prepare: (spec, onStep = () => undefined) => prepare(spec, onStep),
    async prepareUpdate(text, onStep = () => undefined) {
      const document = await store.read();
      const id =
        Object.keys(document.plugins).find((one) => one === text) ?? ofPackage(document, parseSpec(text, root));
      const entry = installedAs(document, id ?? text);
      const isById = id === text;
      if (entry.pinned)
        throw new UserError(t('{plugin} is pinned to {version}.', { plugin: id ?? text, version: entry.version }));
      if (isById) {
        const version = await newest(entry);
        if (
          version !== undefined &&
          !gt(version, entry.version) &&
          (await problemOfFiles(store, text, entry)) === undefined
        )
          return undefined;
      }
      const prepared = await prepare(isById ? entry.spec : text, onStep, id ?? text);
      if (prepared.offer.integrity !== entry.integrity) return prepared;
      await prepared.discard();
      return undefined;
    },
    async list() {
      const { plugins } = await store.read();
      return Promise.all(
        Object.entries(plugins).map(async ([id, entry]) => {
          const problem = await problemOfFiles(store, id, entry);
          return {
            ...infoOf(id, entry),
            ...(problem === undefined ? {} : { problem: operatorSentenceOf(problem) ?? problem.message }),
          };
        }),
      );
    },
    async updates() {
      const { plugins } = await store.read();
      const looked = await Promise.allSettled(
        Object.entries(plugins).map(async ([id, entry]): Promise<readonly PluginUpdate[]> => {
          const to = await newest(entry);
          return to === undefined || !gt(to, entry.version)
            ? []
            : [{ id, from: entry.version, to, pinned: entry.pinned }];
        }),
      );
      return {
        updates: looked.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])),
        problems: looked.flatMap((one) =>
          one.status === 'rejected' ? [operatorSentenceOf(one.reason) ?? String(one.reason)] : [],
        ),
      };
    },
    remove: (id, { withData }) =>
      mutex.run(CHANGE, async () => {
        const document = await store.read();
        installedAs(document, id);
        const state = running?.list().find((one) => one.id === id)?.state;
        if (state !== undefined && state !== 'stopped') await running?.unload(id);
        const { [id]: _, ...plugins } = document.plugins;
        await store.write({ ...document, plugins });
        if (state !== undefined) await running?.forget(id);
        await store.sweep({ work: waiting });
        if (withData) await eraseData(id);
        log.info(`removed ${id}`, { plugin: id, withData });
      }),
    pin: (id, pinned) =>
      mutex.run(CHANGE, async () => {
        const document = await store.read();
        const entry = { ...installedAs(document, id), pinned };
        await store.write({ ...document, plugins: { ...document.plugins, [id]: entry } });
        return infoOf(id, entry);
      }),
    async search(words) {
      if (places.length === 0)
        throw new UserError(
          t('No registry file is configured: `host.plugins.registries` of the configuration names them.'),
        );
      return (await tools()).registries.search(words);
    },
  };
}

/** The entry of a plugin. Uses `Object.hasOwn`, since an id can be the name of an inherited property, such as `constructor`. */
const entryOf = (plugins: InstalledDocument['plugins'], id: string): InstalledEntry | undefined =>
  Object.hasOwn(plugins, id) ? plugins[id] : undefined;

/** The record of a candidate. Its folder is named after its content. */
function newEntry(
  { id, content, file, fetched, declared, spec, registry }: Candidate,
  previous: InstalledEntry | undefined,
): InstalledEntry {
  const digest = Buffer.from(content.slice('sha512-'.length), 'base64').toString('hex').slice(0, 12);
  const { intents, permissions, hosts, env, injects, tools } = declared;
  return {
    packageName: file.name,
    version: file.version,
    spec,
    ...(registry === undefined ? {} : { registry }),
    pinned: previous?.pinned ?? false,
    integrity: fetched.integrity,
    content,
    folder: `${id}/${file.version}-${digest}`,
    granted: {
      intents: [...intents],
      permissions: [...permissions],
      hosts: [...hosts],
      env: [...env],
      injects: [...injects],
      tools: tools.map((tool) => ({ ...tool })),
    },
  };
}

function ofPackage({ plugins }: InstalledDocument, spec: PackageSpec): string | undefined {
  if (spec.kind !== 'npm') return undefined;
  return Object.entries(plugins).find(([id, { packageName }]) => id === spec.name || packageName === spec.name)?.[0];
}

function infoOf(id: string, { packageName, version, spec, pinned, integrity }: InstalledEntry): InstalledPlugin {
  return { id, packageName, version, spec, pinned, integrity };
}

/** Checks that the downloaded package is the requested one. */
function assertSame(spec: PackageSpec, { name, version }: PackageFile, listed: RegistryMatch | undefined): void {
  if (spec.kind === 'npm' && name !== spec.name)
    throw new UserError(
      t('The package {asked} says in its package.json that it is {name}.', { asked: spec.name, name }),
    );
  if (spec.kind === 'npm' && valid(spec.range) !== null && version !== spec.range)
    throw new UserError(
      t('{name} {asked} says in its package.json that it is version {version}.', { name, asked: spec.range, version }),
    );
  if (listed !== undefined && listed.version !== version)
    throw new UserError(
      t('{registry} lists version {asked}, and the package says that it is version {version}.', {
        registry: listed.registry,
        asked: listed.version,
        version,
      }),
    );
}

/** Checks that the manifest's id is that of the registry file, or of the package's name if that follows the convention. @throws UserError */
function assertHonestId(id: string, { name }: PackageFile, listed: RegistryMatch | undefined): void {
  const isConventional = /(?:^|\/)(?:cinnabar-)?plugin-/.test(name);
  const expected = listed?.id ?? (isConventional ? name.replace(PACKAGE_PREFIX, '').toLowerCase() : id);
  if (expected !== id)
    throw new UserError(
      t('{package} should be the plugin {expected}, and its manifest says that it is {plugin}.', {
        package: name,
        expected,
        plugin: id,
      }),
    );
}

/** Matches a normalised path of a package of the host. */
const SHADOW = /(?:^|\/)node_modules\/(@cinnabar\/[^/]+)/;

/** The host's packages are reserved: neither the plugin nor its dependencies may contain them. */
async function assertShadowsNothing(
  folder: string,
  { name, dependencies, optionalDependencies, bundled }: PackageFile,
): Promise<void> {
  const brought = (await filesBelow(folder)).map(foldedPath).find((path) => SHADOW.test(path));
  const own = [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...bundled].find((one) =>
    one.startsWith('@cinnabar/'),
  );
  const shadowed = own ?? (brought === undefined ? undefined : SHADOW.exec(brought)?.[1]);
  if (shadowed !== undefined)
    throw new UserError(
      t('{plugin} brings its own {dependency}: a plugin uses that of the host. It belongs into its peerDependencies.', {
        plugin: name,
        dependency: shadowed,
      }),
    );
}

/** The declarations of a version beyond those that the owner has agreed to. */
function newWants(granted: InstalledEntry['granted'], declared: PluginDeclaration): readonly PluginWant[] {
  const more = <T extends string>(now: readonly T[], before: readonly string[]) =>
    now.filter((one) => !before.includes(one));
  const tools = declared.tools.filter(
    ({ name, risk }) => !granted.tools.some((one) => one.name === name && one.risk === risk),
  );
  return [
    ...more(declared.intents, granted.intents).map((name) => ({ kind: 'intent', name }) as const),
    ...more(declared.permissions, granted.permissions).map((name) => ({ kind: 'permission', name }) as const),
    ...tools.map(({ name, risk }) => ({ kind: 'tool', name, risk }) as const),
    ...more(declared.env, granted.env).map((name) => ({ kind: 'variable', name }) as const),
    ...more(declared.hosts, granted.hosts).map((name) => ({ kind: 'host', name }) as const),
    ...more(declared.injects, granted.injects).map((name) => ({ kind: 'service', name }) as const),
  ];
}

function refused(name: string, version: string, previous: InstalledEntry | undefined, error: unknown): unknown {
  const detail = operatorSentenceOf(error);
  if (detail === undefined) return error;
  // The error already says that the old version continues.
  if (error instanceof CinnabarError && error.code === 'CINNABAR_PLUGIN_RELOAD')
    return new UserError(detail, { cause: error });
  return new UserError(
    previous === undefined
      ? t('{package} {version} was not installed. {detail}', { package: name, version, detail })
      : t('{package} was not updated to {version}. {detail}', { package: name, version, detail }),
    { cause: error },
  );
}

/** The installer of a process in a cluster, which refuses every change: all processes have to run the same plugins. */
export function unchanging(installer: PluginPackages): PluginPackages {
  const refuse = async (): Promise<never> => {
    throw new UserError(
      t(
        'This bot is served by several processes. Change its plugins with `cinnabar plugin` on each machine, then restart the processes one after another.',
      ),
    );
  };
  return { ...installer, prepare: refuse, prepareUpdate: refuse, remove: refuse, pin: refuse };
}
