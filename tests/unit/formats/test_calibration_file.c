/* Calibrations as their programs write them: one camera in every format, to the last digit. */
#include "formats/calibration_file.h"

#include "test_util.h"

static psfm_context *ctx;

static psfm_status parse(const char *text, psfm_calibration *out) {
    *out = (psfm_calibration){0};
    return psfm_calibration_parse(ctx, text, strlen(text), "c.yml", "c", false, out);
}

static void check_camera(const psfm_calibration *c, size_t k, const char *name,
                         psfm_camera_model model, const double *params) {
    assert_true(k < c->num);
    assert_string_equal(c->items[k].name, name);
    assert_int_equal(c->items[k].camera.model, model);
    for (int p = 0; p < psfm_camera_num_params(model); ++p)
        assert_close(c->items[k].camera.params[p], params[p], 1e-12);
}

/* fx fy cx cy k1 k2 p1 p2, COLMAP's half pixel in cx and cy. */
static const double opencv[] = {1201.5, 1199.25, 640.5, 361.0, -0.25, 0.125, 0.001, -0.002};

#define MATRIX "[ 1.2015e+03, 0., 640., 0., 1199.25,\n       3.605e+02, 0., 0., 1. ]"

/* What cv::FileStorage writes. */
static void test_opencv_yaml(void **state) {
    (void)state;
    psfm_calibration c;
    assert_ok(ctx, parse("%YAML:1.0\n---\ncalibration_time: \"Thu 19 Nov 2026\"\nflags: 0\n"
                         "image_width: 1280\nimage_height: 720\n"
                         "camera_matrix: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
                         "   data: " MATRIX "\n"
                         "distortion_coefficients: !!opencv-matrix\n   rows: 5\n   cols: 1\n"
                         "   dt: d\n   data: [ -0.25, 0.125, 0.001,\n       -2.0e-03, 0. ]\n"
                         "avg_reprojection_error: 3.0e-01\n",
                         &c));
    assert_int_equal(c.num, 1);
    assert_int_equal(c.items[0].camera.width, 1280);
    check_camera(&c, 0, "c", PSFM_CAMERA_OPENCV, opencv);
    psfm_calibration_free(&c);
}

static void test_opencv_xml_and_json(void **state) {
    (void)state;
    psfm_calibration c;
    assert_ok(ctx,
              parse("<?xml version=\"1.0\"?>\n<opencv_storage>\n<image_width>1280</image_width>\n"
                    "<image_height>720</image_height>\n"
                    "<camera_matrix type_id=\"opencv-matrix\">\n  <rows>3</rows>\n"
                    "  <cols>3</cols>\n  <dt>d</dt>\n  <data>\n    1201.5 0. 640. 0. 1199.25\n"
                    "    360.5 0. 0. 1.</data></camera_matrix>\n"
                    "<distortion_coefficients type_id=\"opencv-matrix\">\n  <rows>1</rows>\n"
                    "  <cols>4</cols>\n  <dt>d</dt>\n"
                    "  <data>-0.25 0.125 1e-3 -2e-3</data></distortion_coefficients>\n"
                    "</opencv_storage>\n",
                    &c));
    assert_int_equal(c.items[0].camera.height, 720);
    check_camera(&c, 0, "c", PSFM_CAMERA_OPENCV, opencv);
    psfm_calibration_free(&c);
    assert_ok(ctx,
              parse("{\"camera_matrix\": {\"type_id\": \"opencv-matrix\", \"rows\": 3, \"cols\": "
                    "3, \"dt\": \"d\", \"data\": [1201.5, 0, 640, 0, 1199.25, 360.5, 0, 0, 1]},"
                    "\"distortion_coefficients\": [[-0.25, 0.125, 0.001, -0.002, 0.0]]}",
                    &c));
    assert_int_equal(c.items[0].camera.width, 0); /* the photographs know */
    check_camera(&c, 0, "c", PSFM_CAMERA_OPENCV, opencv);
    psfm_calibration_free(&c);
    assert_ok(ctx, parse("{\"left\": {\"K\": [[1201.5, 0, 640], [0, 1199.25, 360.5], [0, 0, 1]], "
                         "\"dist\": []}, \"right\": {\"K\": [1, 0, 2, 0, 3, 4, 0, 0, 1], "
                         "\"dist\": [1, 2, 3, 4, 5, 6, 7, 8]}}",
                         &c));
    assert_int_equal(c.num, 2);
    check_camera(&c, 0, "left", PSFM_CAMERA_PINHOLE, opencv);
    check_camera(&c, 1, "right", PSFM_CAMERA_FULL_OPENCV,
                 (double[]){1, 3, 2.5, 4.5, 1, 2, 3, 4, 5, 6, 7, 8});
    psfm_calibration_free(&c);
}

static void test_ros(void **state) {
    (void)state;
    psfm_calibration c;
    assert_ok(ctx, parse("# of a robot\nimage_width: 1280\nimage_height: 720\n"
                         "camera_name: narrow_stereo\ncamera_matrix:\n  rows: 3\n  cols: 3\n"
                         "  data: " MATRIX "\ndistortion_model: plumb_bob\n"
                         "distortion_coefficients:\n  rows: 1\n  cols: 5\n"
                         "  data: [-0.25, 0.125, 0.001, -0.002, 0]\n",
                         &c));
    check_camera(&c, 0, "narrow_stereo", PSFM_CAMERA_OPENCV, opencv);
    psfm_calibration_free(&c);
    assert_ok(ctx, parse("camera_matrix:\n- [1201.5, 0, 640]\n- [0, 1199.25, 360.5]\n- [0, 0, 1]\n"
                         "dist_coeff:\n- [0]\n",
                         &c));
    check_camera(&c, 0, "c", PSFM_CAMERA_PINHOLE, opencv);
    psfm_calibration_free(&c);
}

static void test_kalibr(void **state) {
    (void)state;
    psfm_calibration c;
    assert_ok(ctx, parse("cam0:\n  cam_overlaps: [1]\n  camera_model: pinhole\n"
                         "  distortion_coeffs: [-0.25, 0.125, 0.001, -0.002]\n"
                         "  distortion_model: radtan\n  intrinsics: [1201.5, 1199.25, 640, 360.5]\n"
                         "  resolution: [1280, 720]\n  rostopic: /cam0/image_raw\n"
                         "cam1:\n  T_cn_cnm1:\n  - [1.0, 0.0, 0.0, -0.1]\n"
                         "  - [0.0, 1.0, 0.0, 0.0]\n  - [0.0, 0.0, 1.0, 0.0]\n"
                         "  - [0.0, 0.0, 0.0, 1.0]\n  camera_model: pinhole\n"
                         "  distortion_coeffs: [0.1, 0.2, 0.3, 0.4]\n"
                         "  distortion_model: equidistant\n  intrinsics: [400, 401, 640, 360]\n"
                         "  resolution: [1280, 720]\n",
                         &c));
    assert_int_equal(c.num, 2);
    check_camera(&c, 0, "cam0", PSFM_CAMERA_OPENCV, opencv);
    check_camera(&c, 1, "cam1", PSFM_CAMERA_OPENCV_FISHEYE,
                 (double[]){400, 401, 640.5, 360.5, 0.1, 0.2, 0.3, 0.4});
    psfm_calibration_free(&c);
    assert_int_equal(parse("cam0:\n  camera_model: omni\n  intrinsics: [1, 2, 3, 4, 5]\n", &c),
                     PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "camera cam0: Kalibr's camera model 'omni'"));
    psfm_calibration_free(&c);
}

/* Metashape: a pixel is projected by its manual's formulas. */
static void test_agisoft(void **state) {
    (void)state;
    psfm_calibration c;
    const double f = 3000, cx = 12.5, cy = -7.25, b1 = 1.5, x = 0.2, y = -0.15, r2 = x * x + y * y;
    const double radial = 1 + r2 * (-0.1 + r2 * (0.05 + r2 * 0.01)), p1 = 1e-3, p2 = -2e-3;
    const double u = x * radial + p1 * (r2 + 2 * x * x) + 2 * p2 * x * y;
    const double v = y * radial + p2 * (r2 + 2 * y * y) + 2 * p1 * x * y;
    double xy[2];
    assert_ok(ctx, parse("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<calibration>\n"
                         "  <projection>frame</projection>\n  <width>4000</width>\n"
                         "  <height>3000</height>\n  <f>3000</f>\n  <cx>12.5</cx>\n"
                         "  <cy>-7.25</cy>\n  <b1>1.5</b1>\n  <k1>-0.1</k1>\n  <k2>0.05</k2>\n"
                         "  <k3>0.01</k3>\n  <p1>0.001</p1>\n  <p2>-0.002</p2>\n"
                         "  <date>2026-11-19T00:00:00Z</date>\n</calibration>\n",
                         &c));
    assert_int_equal(c.num, 1);
    assert_true(psfm_camera_project(&c.items[0].camera, (double[3]){x, y, 1}, xy));
    assert_close(xy[0], 2000 + cx + u * f + u * b1, 1e-9);
    assert_close(xy[1], 1500 + cy + v * f, 1e-9);
    psfm_calibration_free(&c);
    assert_int_equal(parse("<calibration><projection>fisheye</projection><width>9</width>"
                           "<height>9</height><f>9</f></calibration>",
                           &c),
                     PSFM_ERR_FORMAT);
    assert_non_null(strstr(psfm_context_message(ctx), "not 'frame'"));
    psfm_calibration_free(&c);
}

static void test_toml(void **state) {
    (void)state;
    psfm_calibration c;
    assert_ok(ctx, parse("[cam_01]\nname = \"cam_01\"\nsize = [ 1280.0, 720.0]\n"
                         "matrix = [ [ 1201.5, 0.0, 640.0], [ 0.0, 1199.25, 360.5], "
                         "[ 0.0, 0.0, 1.0]]\ndistortions = [ -0.25, 0.125, 0.001, -0.002]\n"
                         "rotation = [ 1.2, -1.1, 0.9]\ntranslation = [ 0.1, 0.2, 4.0]\n"
                         "fisheye = false\n\n[metadata]\nadjusted = false\nerror = 0.0\n",
                         &c));
    assert_int_equal(c.num, 1);
    check_camera(&c, 0, "cam_01", PSFM_CAMERA_OPENCV, opencv);
    psfm_calibration_free(&c);
    assert_ok(ctx,
              parse("CHARUCO = 3 # of Caliscope\n[cameras.2]\ncam_id = 2\nsize = [1280, 720]\n"
                    "matrix = [\n  [1201.5, 0, 640],\n  [0, 1199.25, 360.5],\n  [0, 0, 1],\n]\n"
                    "distortions = [-0.25, 0.125, 0.001, -0.002, 0.0]\n",
                    &c));
    check_camera(&c, 0, "2", PSFM_CAMERA_OPENCV, opencv);
    psfm_calibration_free(&c);
}

static void test_easymocap(void **state) {
    (void)state;
    psfm_calibration c;
    assert_ok(ctx, parse("%YAML:1.0\r\n---\r\nnames:\r\n  - \"01\"\r\n  - \"02\"\r\n"
                         "K_01: !!opencv-matrix\r\n  rows: 3\r\n  cols: 3\r\n  dt: d\r\n"
                         "  data: [1201.5, 0.0, 640, 0, 1199.25, 360.5, 0, 0, 1]\r\n"
                         "dist_01: !!opencv-matrix\r\n  rows: 1\r\n  cols: 5\r\n  dt: d\r\n"
                         "  data: [-0.25, 0.125, 0.001, -0.002, 0]\r\n"
                         "K_02: !!opencv-matrix\r\n  rows: 3\r\n  cols: 3\r\n  dt: d\r\n"
                         "  data: [5, 0, 1, 0, 6, 2, 0, 0, 1]\r\n",
                         &c));
    assert_int_equal(c.num, 2);
    check_camera(&c, 0, "01", PSFM_CAMERA_OPENCV, opencv);
    check_camera(&c, 1, "02", PSFM_CAMERA_PINHOLE, (double[]){5, 6, 1.5, 2.5});
    psfm_calibration_free(&c);
}

static void test_lists(void **state) {
    (void)state;
    psfm_calibration c;
    const double exact[] = {1201.5, 1199.25, 640, 360.5, -0.25, 0.125, 0.001, -0.002};
    assert_ok(ctx,
              parse("# name fx fy cx cy k1 k2 p1 p2\nleft 1201.5 1199.25 640 360.5 -0.25 0.125 "
                    "0.001 -0.002\nright, 1, 2, 3, 4\n",
                    &c));
    check_camera(&c, 0, "left", PSFM_CAMERA_OPENCV, exact);
    check_camera(&c, 1, "right", PSFM_CAMERA_PINHOLE, (double[]){1, 2, 3, 4});
    psfm_calibration_free(&c);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason;
    } bad[] = {
        {"{\"camera_matrix\": [1, 2]}", "camera c: its camera matrix does not have nine numbers"},
        {"{\"K\": [100, 5, 3, 0, 100, 3, 0, 0, 1]}", "skew"},
        {"{\"K\": [-1, 0, 3, 0, 100, 3, 0, 0, 1]}", "camera c: "},
        {"{\"K\": [9, 0, 3, 0, 9, 3, 0, 0, 1], \"dist\": [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]}",
         "thin prism"},
        {"{\"K\": [9, 0, 3, 0, 9, 3, 0, 0, 1], \"fisheye\": true, \"dist\": [1, 2, 3, 4, 5]}",
         "four coefficients"},
        {"{\"K\": [9", "not sound JSON"},
        {"K:\n  - [1, 2\n", "c.yml: line 3: a list without a comma or its end"},
        {"a: 1\n   b: 2\n", "line 2: its indentation"},
        {"<a><b></a>", "another element ends here"},
        {"<calibration><f>1</f></calibration>", "width and height are missing"},
        {"[a]\nb\n", "line 2: not \"key = value\""},
        {"a 1 2 3 4\na 1 2 3 4", "it is there twice"},
        {"a 1 2 3 4\nb 1 2 3", "line 2: should be NAME fx fy cx cy"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        psfm_calibration c;
        if (parse(bad[k].text, &c) != PSFM_ERR_FORMAT)
            fail_msg("accepted: %s", bad[k].text);
        if (strstr(psfm_context_message(ctx), bad[k].reason) == NULL)
            fail_msg("%s: %s", bad[k].text, psfm_context_message(ctx));
        psfm_calibration_free(&c);
    }
    static const char *const none[] = {"", "hello", "a b c d e\n", "<a/>", "{}", "[x]\ny = 1\n"};
    for (size_t k = 0; k < sizeof none / sizeof *none; ++k) {
        psfm_calibration c;
        assert_ok(ctx, parse(none[k], &c));
        assert_int_equal(c.num, 0);
        psfm_calibration_free(&c);
    }
}

static void test_whose(void **state) {
    (void)state;
    psfm_calibration c, one;
    assert_ok(ctx, parse("cam1 1 1 0 0\ncam11 2 2 0 0\n02 3 3 0 0\n", &c));
    assert_close(psfm_calibration_find(&c, "cam1.jpg")->params[0], 1, 0);
    assert_close(psfm_calibration_find(&c, "Cam1_0004.png")->params[0], 1, 0);
    assert_close(psfm_calibration_find(&c, "shots/cam11/000.jpg")->params[0], 2, 0);
    assert_close(psfm_calibration_find(&c, "02/cam9.jpg")->params[0], 3, 0);
    assert_null(psfm_calibration_find(&c, "cam12.jpg"));
    assert_null(psfm_calibration_find(&c, "0200.jpg"));
    assert_ok(ctx, parse("any 1 1 0 0\n", &one));
    assert_non_null(psfm_calibration_find(&one, "cam12.jpg"));
    psfm_calibration_free(&c);
    psfm_calibration_free(&one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opencv_yaml), cmocka_unit_test(test_opencv_xml_and_json),
        cmocka_unit_test(test_ros),         cmocka_unit_test(test_kalibr),
        cmocka_unit_test(test_agisoft),     cmocka_unit_test(test_toml),
        cmocka_unit_test(test_easymocap),   cmocka_unit_test(test_lists),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_whose),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
