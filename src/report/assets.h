/* The page's own files, part of the program: see cmake/report_assets.cmake. */
#ifndef PSFM_REPORT_ASSETS_H
#define PSFM_REPORT_ASSETS_H

/* Each text begins at its name and ends before name_end. three.js is empty if it was not there when
 * the program was built. */
extern const char psfm_asset_page[], psfm_asset_page_end[];     /* web/page.html */
extern const char psfm_asset_style[], psfm_asset_style_end[];   /* web/style.css */
extern const char psfm_asset_script[], psfm_asset_script_end[]; /* web/(all).js */
extern const char psfm_asset_three[], psfm_asset_three_end[];   /* three.min.js */
/* web/three_licence.html: the licence of three.js, which wants to be in every copy */
extern const char psfm_asset_licence[], psfm_asset_licence_end[];

#endif
