/** Packages that come along: name, version and licence. Written by Vite from the lock file. */
declare const SALLYPORT_PACKAGES: readonly (readonly [string, string, string])[];
/** Version of the tree that this was built from. */
declare const SALLYPORT_VERSION: string;
/** Pages of the guide: name, and title in each language that there is one in. Written by Vite from docs. */
declare const SALLYPORT_GUIDE: readonly (readonly [string, { readonly en: string; readonly de?: string }])[];
