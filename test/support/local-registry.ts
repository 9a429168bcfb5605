import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { z } from '@cinnabar/sdk';
import { Parser } from 'tar';

/** A small npm registry on loopback: `npm install --registry <url>`, or the variable `npm_config_registry`. */
export interface LocalRegistry extends AsyncDisposable {
  /** `http://127.0.0.1:40123/` */
  readonly url: string;
  /** The requests, in order: `GET /dice2`. */
  readonly requests: readonly string[];
  /**
   * Adds a tarball under the name and version in its package.json. The same version again replaces the first, which no honest registry does.
   * @param options.tags dist-tags in addition to `latest`, which names the version added last
   * @param options.deprecated the notice of deprecation
   * @param options.as a false name under which it is listed
   * @param options.integrity a false integrity value
   */
  add(tarball: Uint8Array, options?: AddOptions): Published;
  /** Removes a version, or a whole package, without a trace. */
  remove(name: string, version?: string): void;
}

interface AddOptions {
  readonly tags?: readonly string[];
  readonly deprecated?: string;
  readonly as?: string;
  readonly integrity?: string;
}

/** A version in the registry. */
interface Published {
  readonly name: string;
  readonly version: string;
  /** The address of its tarball. */
  readonly tarball: string;
  /** `sha512-…` */
  readonly integrity: string;
}

interface Version extends Published {
  readonly content: Buffer;
  readonly manifest: PackageFile;
  readonly deprecated: string | undefined;
}

interface Package {
  readonly versions: Map<string, Version>;
  readonly tags: Map<string, string>;
}

const packageFile = z.looseObject({ name: z.string(), version: z.string() });
type PackageFile = z.output<typeof packageFile>;

/**
 * Starts a registry.
 * @param options.upstream the registry to which requests for other names are redirected; by default they get 404, so that a test reaches only loopback
 */
export async function startLocalRegistry({ upstream }: { readonly upstream?: string } = {}): Promise<LocalRegistry> {
  const packages = new Map<string, Package>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    answer(request, response, packages, url, upstream);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;

  return {
    url,
    requests,
    add(tarball, { tags = [], deprecated, as, integrity } = {}) {
      const content = Buffer.from(tarball);
      const manifest = manifestOf(content);
      const { version } = manifest;
      const name = as ?? manifest.name;
      const published = {
        name,
        version,
        tarball: `${url}${name}/-/${name.replace(/^.*\//, '')}-${version}.tgz`,
        integrity: integrity ?? `sha512-${createHash('sha512').update(content).digest('base64')}`,
      };
      const known = packages.get(name) ?? { versions: new Map(), tags: new Map() };
      packages.set(name, known);
      known.versions.set(version, { ...published, content, manifest, deprecated });
      for (const tag of ['latest', ...tags]) known.tags.set(tag, version);
      return published;
    },
    remove(name, version) {
      const known = packages.get(name);
      if (version === undefined) packages.delete(name);
      else known?.versions.delete(version);
      for (const [tag, tagged] of known?.tags ?? []) if (tagged === version) known?.tags.delete(tag);
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md */
function answer(
  { method, url: path = '/' }: IncomingMessage,
  response: ServerResponse,
  packages: ReadonlyMap<string, Package>,
  url: string,
  upstream: string | undefined,
): void {
  const send = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const [wanted = ''] = path.slice(1).split('?');
  const [name = '', file] = decodeURIComponent(wanted).split('/-/');
  const known = packages.get(name);
  if (method !== 'GET' || known === undefined) {
    // Requests for other names, and also audits and searches.
    if (upstream === undefined) send(404, { error: 'not found' });
    else response.writeHead(307, { location: new URL(path.slice(1), upstream).href }).end();
    return;
  }
  if (file === undefined) return void send(200, packumentOf(name, known));
  const found = [...known.versions.values()].find(({ tarball }) => tarball === `${url}${name}/-/${file}`);
  if (found === undefined) return void send(404, { error: 'not found' });
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': found.content.length });
  response.end(found.content);
}

function packumentOf(name: string, { versions, tags }: Package): object {
  const shown = [...versions.values()].map(({ version, manifest, tarball, integrity, content, deprecated }) => [
    version,
    {
      ...manifest,
      dist: { tarball, integrity, shasum: createHash('sha1').update(content).digest('hex') },
      ...(deprecated === undefined ? {} : { deprecated }),
      ...(hasInstallScript(manifest) ? { hasInstallScript: true } : {}),
    },
  ]);
  return {
    _id: name,
    name,
    'dist-tags': Object.fromEntries(tags),
    versions: Object.fromEntries(shown),
    modified: new Date(0).toISOString(),
  };
}

function hasInstallScript({ scripts }: PackageFile): boolean {
  const { success, data } = z.record(z.string(), z.string()).safeParse(scripts);
  return success && ['preinstall', 'install', 'postinstall'].some((name) => name in data);
}

/** The package.json directly below the first folder of a tarball. @throws Error when npm would not accept it */
function manifestOf(tarball: Buffer): PackageFile {
  const chunks: Buffer[] = [];
  const parser = new Parser({
    onReadEntry(entry) {
      if (/^[^/]+\/package\.json$/.test(entry.path)) entry.on('data', (chunk) => chunks.push(chunk));
      else entry.resume();
    },
  });
  parser.end(gunzipSync(tarball));
  return packageFile.parse(JSON.parse(Buffer.concat(chunks).toString()));
}
